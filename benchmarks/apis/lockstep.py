"""User instructions of streams of other APIs beside chat streams, in step: `python -m benchmarks.apis.lockstep`.

The engine sends so many tokens at once and waits for the client to have them, so that a worker under valgrind, which is
slow, reads as many at a time as one that is not. Needs no quiet machine. Prints a table.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from benchmarks.gateway import running, upstream
from benchmarks.gateway.load import GOOD
from benchmarks.gateway.peers import HETERODYNE
from benchmarks.gateway.scenarios import APIS, STREAM, Scenario
from benchmarks.instructions import callgrind
from benchmarks.instructions.measure import ANSWER_S_MAX, worker_of
from benchmarks.instructions.run import with_counted_worker
from heterodyne.concurrency.deadline import deadline

REQUESTS = 160
WARM_UP_REQUESTS = 4
SETTLE_S = 1.5  # records are written after the answer
TOKENS_PER_READ = (1, 16)
LAST_CHUNK = b"0\r\n\r\n"
TOKEN = upstream.TOKEN.encode()


class Step:
    """How many tokens come at once, and how many of an answer the client has."""

    def __init__(self) -> None:
        self.tokens = 0  # 0: the client is not waited for
        self.seen = 0
        self._more = asyncio.Event()

    def see(self, tokens: int) -> None:
        """The client has so many now."""
        self.seen = tokens
        self._more.set()

    async def wait(self, sent: int) -> None:
        """Until it has all that were sent; writes are counted by no one, for a gateway may hold one for the next."""
        if not self.tokens:
            await asyncio.sleep(0)
            return
        async with deadline(ANSWER_S_MAX):
            while self.seen < sent:
                self._more.clear()
                await self._more.wait()


class Engine(upstream.Engine):
    """The mock, in step with the client."""

    def __init__(self, step: Step) -> None:
        self.step = step

    async def stream(self, _gap_s: float) -> None:
        at_once = self.step.tokens or 1
        self.transport.write(upstream.STREAM_HEAD + upstream.STREAM_FIRST)
        for sent in range(at_once, upstream.TOKENS + 1, at_once):
            self.transport.write(upstream.STREAM_TOKEN * at_once)
            await self.step.wait(sent)
        self.transport.write(upstream.STREAM_LAST)


class Client(asyncio.Protocol):
    """One connection, one request after the other."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.answer = b""
        self.is_whole = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.answer += data
        self.step.see(self.answer.count(TOKEN))
        if self.answer.endswith(LAST_CHUNK):
            self.is_whole.set()

    async def ask(self, request: bytes, times: int) -> None:
        for _ in range(times):
            self.answer = b""
            self.is_whole.clear()
            self.step.see(0)
            self.transport.write(request)
            await asyncio.wait_for(self.is_whole.wait(), ANSWER_S_MAX)
            if not self.answer.startswith(GOOD):
                raise ValueError(f"not an answer to measure: {self.answer[:300]!r}")


async def count(client: Client, scenario: Scenario, worker: int, folder: Path) -> float:
    """Instructions of one stream, less those of the same time without any."""
    request = scenario.request()
    await client.ask(request, WARM_UP_REQUESTS)
    await asyncio.sleep(SETTLE_S)
    await asyncio.to_thread(callgrind.begin, worker)
    began_s = time.monotonic()
    await client.ask(request, REQUESTS)
    await asyncio.sleep(SETTLE_S)
    busy = await asyncio.to_thread(callgrind.take, worker, folder)
    await asyncio.sleep(time.monotonic() - began_s)
    idle = await asyncio.to_thread(callgrind.take, worker, folder)
    await asyncio.to_thread(callgrind.end, worker)
    return (busy.instructions - idle.instructions) / REQUESTS


async def table(folder: Path) -> None:
    """Each API with each number of tokens at once."""
    loop, step = asyncio.get_running_loop(), Step()
    server = await loop.create_server(lambda: Engine(step), "127.0.0.1", 0)
    ports = [server.sockets[0].getsockname()[1]]
    gateway_in = running.gateway(HETERODYNE, ports, folder, folder, with_counted_worker)
    gateway = await asyncio.to_thread(gateway_in.__enter__)  # it asks the engine, which runs here
    try:
        worker = worker_of(gateway.pid)
        chat: dict[int, float] = {}
        for scenario in (STREAM, *APIS):
            cells = []
            for step.tokens in TOKENS_PER_READ:
                # One for each: a gateway closes connections that nothing was asked on while it was counted idle.
                _, client = await loop.create_connection(lambda: Client(step), "127.0.0.1", gateway.port)
                found = await count(client, scenario, worker, running.own_folder(folder, HETERODYNE, 1))
                cells.append(f"{found / 1000:,.0f} k | {found / chat.setdefault(step.tokens, found):.2f}")
                client.transport.abort()
            step.tokens = 0
            print(f"| {scenario.title} | {' | '.join(cells)} |", flush=True)
    finally:
        await asyncio.to_thread(gateway_in.__exit__, None, None, None)


def main() -> int:
    """Exit status 1 where nothing can be counted."""
    lacking = callgrind.missing()
    if lacking is not None:
        print(f"no instructions were counted: {lacking}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="heterodyne-lockstep-") as folder:
        uvloop.run(table(Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
