"""`make bench-tls`: CPU of requests, streams and handshakes over TLS beside plain ones, written to docs/tls-cost.md."""

import argparse
import asyncio
import os
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from benchmarks.gateway import running
from benchmarks.gateway.peers import Place, heterodyne
from benchmarks.gateway.scenarios import REQUEST, STREAM
from benchmarks.gateway.upstream import TOKENS
from benchmarks.machine import FORMS, describe
from benchmarks.process_cpu import tree_usage
from benchmarks.tls.load import Client
from heterodyne.telemetry.build_form import build_form

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tls-cost.md"
START_S = 60.0
CLIENTS = 16
PLAIN, TLS, MTLS = "plain", "TLS 1.3", "TLS 1.3, client certificates"


class Door(Struct, frozen=True, kw_only=True):
    """A gateway, and how clients come to it."""

    name: str
    port: int
    pid: int
    tls: Callable[[], ssl.SSLContext] | None


def main() -> None:
    """Measure in turns, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="times each is measured (default: 5)")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of one measure (default: 2)")
    options = parser.parse_args()
    cpu_us: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory(prefix="heterodyne-tls-") as temporary, ExitStack() as stack:
        folder = Path(temporary)
        (engine,) = stack.enter_context(running.upstream(folder))
        doors = [stack.enter_context(_door(name, engine.port, folder)) for name in (PLAIN, TLS, MTLS)]
        for number in range(options.rounds):
            for title, scenario in _scenarios().items():
                for door in doors:
                    used = _measured(door, *scenario, options.seconds)
                    cpu_us.setdefault(title, {}).setdefault(door.name, []).append(used)
                    print(f"round {number + 1}  {title:40} {door.name:30} {used:8.1f} µs", file=sys.stderr)
    PAGE.write_text(_page(cpu_us, options.rounds), encoding="utf-8")


def _scenarios() -> dict[str, tuple[bytes, bool]]:
    """By title: what is asked, and whether its connection lasts."""
    return {
        "a whole answer, on a connection that lasts": (REQUEST.request(), True),
        f"a stream of {TOKENS}, on a connection that lasts": (STREAM.request(), True),
        "a whole answer, on a new connection": (REQUEST.request(), False),
    }


def _measured(door: Door, request: bytes, is_lasting: bool, seconds: float) -> float:
    """CPU of the supervisor and its worker for one request."""
    client = Client(port=door.port, tls=door.tls, request=request, is_lasting=is_lasting, clients=CLIENTS)
    asyncio.run(client.ask(seconds / 4))
    before = tree_usage(door.pid).cpu_s
    asked = asyncio.run(client.ask(seconds))
    if asked.failures:
        raise SystemExit(f"{door.name}: {asked.failures} of {asked.requests} requests failed")
    return (tree_usage(door.pid).cpu_s - before) / asked.requests * 1e6


@contextmanager
def _door(name: str, engine_port: int, folder: Path) -> Iterator[Door]:
    own = folder / name.replace(" ", "-").replace(",", "")
    own.mkdir()
    (port, spare_port) = running.free_ports(2)
    place = Place(
        port=port,
        spare_port=spare_port,
        upstream_urls=(f"http://127.0.0.1:{engine_port}",),
        folder=own,
        environments=folder,
    )
    launch = heterodyne(place)
    variables, tls = {}, None
    if name != PLAIN:
        ours, theirs = _self_signed(own, "gateway"), _self_signed(own, "client")
        variables = {"TLS_CERTIFICATE": f"{ours}.pem", "TLS_KEY": f"{ours}.key", "TLS_VERSION_MIN": "1.3"}
        if name == MTLS:
            variables |= {"TLS_CLIENT_AUTHORITIES": f"{theirs}.pem", "TLS_CLIENT_CERTIFICATES": "required"}
        tls = lambda: _trusting(ours, theirs)  # noqa: E731
    environment = {f"HETERODYNE_GATEWAY__{key}": value for key, value in variables.items()}
    with running.process(
        list(launch.command), own / "log", {**os.environ, **launch.environment, **environment}, own
    ) as started:
        door = Door(name=name, port=port, pid=started.pid, tls=tls)
        _wait_ready(door)
        yield door


def _wait_ready(door: Door) -> None:
    client = Client(port=door.port, tls=door.tls, request=REQUEST.request(), is_lasting=False, clients=1)
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s:
        try:
            if asyncio.run(client.ask(0.05)).failures == 0:
                return
        except* (OSError, asyncio.IncompleteReadError):
            time.sleep(0.2)
    raise SystemExit(f"{door.name}: not ready within {START_S:g} s")


def _self_signed(folder: Path, name: str) -> Path:
    """A key of the curve that most certificates have today, and a certificate that vouches for itself."""
    file = folder / name
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    names = ("-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1")
    command = ["openssl", "req", "-x509", *curve, *names, "-keyout", f"{file}.key", "-out", f"{file}.pem"]
    subprocess.run(command, check=True, capture_output=True)
    return file


def _trusting(ours: Path, theirs: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=f"{ours}.pem")
    context.load_cert_chain(f"{theirs}.pem", f"{theirs}.key")
    return context


def _page(cpu_us: dict[str, dict[str, list[float]]], rounds: int) -> str:
    lines = [
        "# What TLS costs",
        "",
        f"Written by `make bench-tls`; run of {datetime.now(UTC).date().isoformat()}, {describe()}, "
        f"{FORMS[build_form()]}. CPU of the supervisor and its one worker for one request, {CLIENTS} clients at once, "
        f"medians of {rounds} rounds in turns; certificates of P-256, {ssl.OPENSSL_VERSION}. Clients make no use of "
        "sessions, so a new connection is a whole handshake. Ratios are of the same round.",
        "",
        f"| Request | {PLAIN} | {TLS} | beside {PLAIN} | {MTLS} | beside {PLAIN} |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for title, found in cpu_us.items():
        cells = [f"{statistics.median(found[PLAIN]):.0f} µs"]
        for name in (TLS, MTLS):
            ratio = statistics.median(one / plain for one, plain in zip(found[name], found[PLAIN], strict=True))
            cells += [f"{statistics.median(found[name]):.0f} µs", f"{ratio:.2f}"]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
