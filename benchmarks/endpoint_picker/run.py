"""`make bench-endpoint-picker`: what the picker adds to an Envoy, and what a hop through the gateway would.

Written to docs/endpoint-picker-cost.md. One engine, which answers at once: everything that is measured is on the way.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchmarks.gateway import running
from benchmarks.gateway.peers import Place, heterodyne
from benchmarks.gateway.scenarios import REQUEST, STREAM
from benchmarks.gateway.upstream import TOKENS
from benchmarks.machine import FORMS, describe
from benchmarks.process_cpu import tree_usage
from heterodyne.telemetry.build_form import build_form
from tests.support import envoy

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "endpoint-picker-cost.md"
START_S = 60.0
CLIENTS = 16
ALONE, HOP = "Envoy alone", "Envoy, then the gateway"
DUPLEX = "Envoy with the picker, `FULL_DUPLEX_STREAMED` both ways"
BUFFERED = "Envoy with the picker, `BUFFERED`, answers `STREAMED`"
UNWATCHED = "Envoy with the picker, `BUFFERED`, answers not watched"
MODES = {
    DUPLEX: (envoy.DUPLEX, envoy.DUPLEX),
    BUFFERED: (envoy.BUFFERED, envoy.STREAMED),
    UNWATCHED: (envoy.BUFFERED, "NONE"),
}
PICKER = "[books]\nis_on = false\n\n[endpoint_picker]\nlistens = true\nport = {port}\n\n"
SCENARIOS = {
    "a whole answer, one client": (REQUEST.request(), 1),
    f"first bytes of a stream of {TOKENS}, one client": (STREAM.request(), 1),
    f"a whole answer, {CLIENTS} clients at once": (REQUEST.request(), CLIENTS),
    f"first bytes of a stream of {TOKENS}, {CLIENTS} clients at once": (STREAM.request(), CLIENTS),
}


class Measured(Struct, frozen=True, kw_only=True):
    """One measure of one way."""

    p50_ms: float
    p99_ms: float
    per_s: float
    cpu_us: float  # of Heterodyne, for one request


Rounds = dict[str, dict[str, list[Measured]]]  # by scenario and way


def main() -> None:
    """Measure in turns, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="times each is measured (default: 7)")
    parser.add_argument("--seconds", type=float, default=1.5, help="length of one measure (default: 1.5)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heterodyne-picker-") as temporary:
        rounds = asyncio.run(_measure_all(Path(temporary), options.rounds, options.seconds))
    PAGE.write_text(_page(rounds, options.rounds), encoding="utf-8")


async def _measure_all(folder: Path, count: int, seconds: float) -> Rounds:
    rounds: Rounds = {}
    with running.upstream(folder) as (engine,):
        port, spare_port, picker_port = running.free_ports(3)
        place = Place(
            port=port,
            spare_port=spare_port,
            upstream_urls=(f"http://127.0.0.1:{engine.port}",),
            folder=folder,
            environments=folder,
        )
        launch = heterodyne(place, PICKER.format(port=picker_port))
        environment = {**os.environ, **launch.environment}
        with running.process(list(launch.command), folder / "log", environment, folder) as started:
            async with _ways(engine.port, port, picker_port) as ports:
                for way_port in ports.values():
                    await _wait_ready(way_port)
                for number in range(count):
                    for title, (request, clients) in SCENARIOS.items():
                        for way, way_port in ports.items():
                            measured = await _measure(way_port, request, clients, seconds, started.pid)
                            rounds.setdefault(title, {}).setdefault(way, []).append(measured)
                            print(f"round {number + 1}  {title:52} {way:56} {measured.p50_ms:7.2f} ms", file=sys.stderr)
    return rounds


@asynccontextmanager
async def _ways(engine_port: int, gateway_port: int, picker_port: int) -> AsyncIterator[Mapping[str, int]]:
    """The ports of one Envoy, each another way to the same engine."""
    doors = [
        envoy.listener(ALONE, [], _to("engine")),
        envoy.listener(HOP, [], _to("gateway")),
        *(
            envoy.listener(way, [envoy.ext_proc(request_body=request, response_body=response)])
            for way, (request, response) in MODES.items()
        ),
    ]
    clusters = [
        envoy.destination_cluster(),
        envoy.static_cluster("engine", [engine_port]),
        envoy.static_cluster("gateway", [gateway_port]),
        envoy.static_cluster("picker", [picker_port], is_http2=True),
    ]
    async with envoy.running_envoy(doors, clusters) as proxy:
        yield proxy.ports


def _to(cluster: str) -> Sequence[dict[str, Any]]:
    return [{"match": {"prefix": "/"}, "route": {"cluster": cluster, "timeout": "60s"}}]


async def _measure(port: int, request: bytes, clients: int, seconds: float, pid: int) -> Measured:
    await _ask(port, request, clients, seconds / 5)
    before, began_s = tree_usage(pid).cpu_s, time.monotonic()
    took_ms = sorted(await _ask(port, request, clients, seconds))
    elapsed_s, used_s = time.monotonic() - began_s, tree_usage(pid).cpu_s - before
    return Measured(
        p50_ms=took_ms[len(took_ms) // 2],
        p99_ms=took_ms[len(took_ms) * 99 // 100],
        per_s=len(took_ms) / elapsed_s,
        cpu_us=used_s / len(took_ms) * 1e6,
    )


async def _ask(port: int, request: bytes, clients: int, seconds: float) -> list[float]:
    """One request after the other on each connection; milliseconds up to the first bytes of each answer's body."""
    until_s = time.monotonic() + seconds
    took_ms: list[float] = []

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < until_s:
            began_s = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200 "):
                raise ConnectionError(f"not answered: {head!r}")
            size = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            line = b"" if size else await reader.readuntil(b"\r\n")
            took_ms.append((time.perf_counter() - began_s) * 1000)
            if size:
                await reader.readexactly(int(size))
            elif line != b"0\r\n":
                await reader.readuntil(b"\r\n0\r\n\r\n")
        writer.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(one())
    return took_ms


async def _wait_ready(port: int) -> None:
    async with asyncio.timeout(START_S):
        while True:
            try:
                await _ask(port, REQUEST.request(), 1, 0.02)
                return
            except* (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.2)


def _page(rounds: Rounds, count: int) -> str:
    lines = [
        "# What an endpoint picker costs",
        "",
        f"Written by `make bench-endpoint-picker`; run of {datetime.now(UTC).date().isoformat()}, {describe()}, "
        f"{FORMS[build_form()]}. One Envoy of one thread, one worker, one engine that answers at once, and the clients "
        f"share the machine. Medians of {count} rounds in turns; ratios are of the same round. CPU is of the "
        "supervisor and its worker.",
        "",
        "An inference takes seconds: what counts is how many milliseconds are added, and how many requests one worker "
        "picks for in a second.",
    ]
    for title, ways in rounds.items():
        head = [
            "",
            f"## {title[0].upper()}{title[1:]}",
            "",
            "| Way | p50 | p99 | p50 beside Envoy | added | per second ",
        ]
        lines += [*head[:3], f"{head[3]}| CPU of Heterodyne |", "|---|--:|--:|--:|--:|--:|--:|"]
        alone = ways[ALONE]
        for way, measured in ways.items():
            ratio = statistics.median(one.p50_ms / base.p50_ms for one, base in zip(measured, alone, strict=True))
            added = statistics.median(one.p50_ms - base.p50_ms for one, base in zip(measured, alone, strict=True))
            p50, p99, per_s, cpu = (
                statistics.median(getattr(one, name) for one in measured)
                for name in ("p50_ms", "p99_ms", "per_s", "cpu_us")
            )
            beside = "" if way == ALONE else f"{ratio:.2f}"
            more = "" if way == ALONE else f"{added:.2f} ms"
            used = "" if way == ALONE else f"{cpu:.0f} µs"
            lines.append(f"| {way} | {p50:.2f} ms | {p99:.2f} ms | {beside} | {more} | {per_s:.0f} | {used} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
