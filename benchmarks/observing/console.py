"""What open consoles cost the supervisor of 200 replicas under 10,000 requests a minute.

One mock engine is all replicas, one gateway answers, requests come at an even pace. The supervisor's own CPU time is
read with no console open and with several, in turn. A real browser says how busy a page keeps its main thread.
"""

import argparse
import asyncio
import contextlib
import gzip
import os
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import uvloop
from msgspec import Struct

from benchmarks.gateway import running
from heterodyne.console.static_files import files_of_the_page

HOST = "127.0.0.1"
REPLICAS, POOL_REPLICAS = 200, 25
REQUESTS_PER_MINUTE = 10_000
HARDWARE = ("h100-sxm", "h200-sxm", "mi300x", "tpu-v5e", "l4", "a100-80gb", "b200", "mi325x")
BODY = b'{"model": "mock", "messages": [{"role": "user", "content": "hi"}], "stream": true}'
BROWSER = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


class Turn(Struct, frozen=True, kw_only=True):
    """Some seconds with so many consoles open."""

    consoles: int
    cpu_share: float  # of one core, of the supervisor alone
    bytes_per_s: float  # to each console


def main() -> None:
    """Start everything, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--consoles", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=15.0, help="of each turn")
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    weight, raw = page_weight()
    print(f"page weight: {weight / 1024:.0f} KB compressed, {raw / 1024:.0f} KB as it is (target 500 KB)")
    with tempfile.TemporaryDirectory() as name, _fleet(Path(name)) as (pid, port, console_port):
        uvloop.run(_measure(pid, port, console_port, given))


def page_weight() -> tuple[int, int]:
    """Of everything that a browser loads before the first view is complete, compressed and not."""
    contents = [file.read_bytes() for file in files_of_the_page()]
    return sum(len(gzip.compress(content)) for content in contents), sum(map(len, contents))


@contextlib.contextmanager
def _fleet(folder: Path) -> Iterator[tuple[int, int, int]]:
    """The supervisor's pid, the gateway's port and the console's."""
    with running.upstream(folder, REPLICAS) as replicas:
        port, console_port = running.free_ports(2)  # of those that two hundred replicas have left
        settings = folder / "heterodyne.toml"
        settings.write_text(_settings(port, console_port, [replica.port for replica in replicas]), encoding="utf-8")
        command = [sys.executable, "-m", "heterodyne", "--config", str(settings), "serve"]
        environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
        with running.process(command, folder / "log", environment, folder) as serving:
            running.wait_valid(serving, port, folder / "log")
            yield serving.pid, port, console_port


def _settings(port: int, console_port: int, ports: list[int]) -> str:
    lines = [f"[gateway]\nport = {port}", f"[console]\nport = {console_port}", '[telemetry]\nrecords = "off"']
    for number in range(0, len(ports), POOL_REPLICAS):
        kind = number // POOL_REPLICAS
        urls = ", ".join(f'"http://{HOST}:{one}"' for one in ports[number : number + POOL_REPLICAS])
        lines.append(
            f'[pools.pool-{kind}]\nmodel = "mock"\nengine = "vllm"\nprice_usd_per_hour = {1 + kind}.0\n'
            f'hardware = "{HARDWARE[kind % len(HARDWARE)]}"\nurls = [{urls}]'
        )
    return "\n\n".join(lines) + "\n"


async def _measure(pid: int, port: int, console_port: int, given: argparse.Namespace) -> None:
    async with asyncio.TaskGroup() as group:
        load = group.create_task(_load(port))
        await asyncio.sleep(5.0)  # until the live minute has something to say
        turns = []
        for _ in range(given.turns):
            turns += [await _turn(pid, console_port, count, given.seconds) for count in (0, given.consoles)]
        busy = await asyncio.to_thread(_browser_share, console_port, given.seconds)
        load.cancel()
    alone = statistics.median(turn.cpu_share for turn in turns if not turn.consoles)
    watched = statistics.median(turn.cpu_share for turn in turns if turn.consoles)
    size = statistics.median(turn.bytes_per_s for turn in turns if turn.consoles)
    print(f"supervisor, {REPLICAS} replicas, {REQUESTS_PER_MINUTE} requests/min, no console: {1000 * alone:.1f} ms/s")
    each = 1000 * (watched - alone) / given.consoles
    print(f"with {given.consoles} consoles: {1000 * watched:.1f} ms/s, {each:.1f} ms/s for each (target 50)")
    print(f"each console is sent {size / 1024:.1f} KB/s")
    print("no browser here: its main thread was not measured" if busy is None else f"a page's main thread: {busy:.1%}")


async def _turn(pid: int, console_port: int, consoles: int, seconds: float) -> Turn:
    counted = [0] * consoles
    async with asyncio.TaskGroup() as group:
        listeners = [group.create_task(_listen(console_port, counted, place)) for place in range(consoles)]
        await asyncio.sleep(2.0)
        bytes_before, cpu_before, began_s = sum(counted), _cpu_s(pid), time.monotonic()
        await asyncio.sleep(seconds)
        wall_s = time.monotonic() - began_s
        share = (_cpu_s(pid) - cpu_before) / wall_s
        sent = sum(counted) - bytes_before
        for listener in listeners:
            listener.cancel()
    return Turn(consoles=consoles, cpu_share=share, bytes_per_s=sent / wall_s / max(1, consoles))


async def _listen(port: int, counted: list[int], place: int) -> None:
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        writer.write(b"GET /admin/live HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n")
        while data := await reader.read(65536):
            counted[place] += len(data)
    finally:
        writer.close()


async def _load(port: int) -> None:
    """Requests at an even pace, whatever becomes of those before."""
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {HOST}:{port}\r\ncontent-type: application/json\r\n"
    request = f"{head}content-length: {len(BODY)}\r\n\r\n".encode() + BODY
    idle: deque[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = deque()  # in turn, so that none is idle for long

    async def ask() -> None:
        reader, writer = idle.popleft() if idle else await asyncio.open_connection(HOST, port)
        writer.write(request)
        await reader.readuntil(b"\r\n0\r\n\r\n")
        idle.append((reader, writer))

    interval_s, due_s = 60 / REQUESTS_PER_MINUTE, time.monotonic()
    async with asyncio.TaskGroup() as group:
        while True:
            group.create_task(ask())
            due_s += interval_s
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))


def _cpu_s(pid: int) -> float:
    """Of the process itself; workers are its children."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _browser_share(console_port: int, seconds: float) -> float | None:
    """Of its main thread that the fleet's page keeps busy; None: there is no browser."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  # tests bring it, benchmarks need not
    except ImportError:
        return None
    if browser is None:
        return None
    urllib.request.urlopen(f"http://{HOST}:{console_port}/health", timeout=5).close()
    with sync_playwright() as play, play.chromium.launch(executable_path=browser, args=list(BROWSER)) as opened:
        page = opened.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"http://{HOST}:{console_port}/#/fleet")
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        page.wait_for_timeout(3000)
        before = _task_s(session.send("Performance.getMetrics"))
        page.wait_for_timeout(1000 * seconds)
        return (_task_s(session.send("Performance.getMetrics")) - before) / seconds


def _task_s(answer: dict[str, list[dict[str, float]]]) -> float:
    return next(metric["value"] for metric in answer["metrics"] if metric["name"] == "TaskDuration")  # type: ignore[comparison-overlap]


if __name__ == "__main__":
    main()
