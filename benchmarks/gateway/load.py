"""A lean closed-loop load: load.py PORT SCENARIO SECONDS WARM_UP_SECONDS.

It says `ready` after the warm-up, waits for a line on stdin, runs until every answer is whole, and prints JSON.
"""

import asyncio
import gc
import json
import socket
import sys
import time

import httptools
import uvloop
from msgspec import Struct

from benchmarks.gateway.scenarios import SCENARIOS, Scenario

DRAIN_S_MAX = 60.0
BROKEN_MAX = 1000
GOOD = b"HTTP/1.1 200"
LAST_CHUNK = b"\r\n0\r\n\r\n"
# Gateways cut a stream into chunks as they please, so whole answers differ a little in bytes on the wire.
WHOLE_SHARE_MIN = 0.9


class Counts(Struct):
    """What one phase saw."""

    latencies_s: list[float] = []
    gaps_s: list[float] = []  # between what comes of a stream
    refused: int = 0  # an answer other than 200
    incomplete: int = 0  # an answer that ended too early
    broken: int = 0  # a connection that ended before its answer did


class Pattern(Struct, frozen=True, kw_only=True):
    """How the whole answers of one gateway to one request look: parsing each would make the load too slow."""

    ending: bytes
    size_bytes: int


class User(asyncio.Protocol):
    """One connection that asks again as soon as it is answered; the last answer is waited for."""

    def __init__(self, scenario: Scenario, pattern: Pattern, ends_at_s: float, counts: Counts) -> None:
        self.request = scenario.request()
        self.keeps_gaps = scenario.is_paced
        self.ending = pattern.ending
        self.tail_bytes = len(pattern.ending)
        self.size_bytes_min = WHOLE_SHARE_MIN * pattern.size_bytes
        self.ends_at_s = ends_at_s
        self.counts = counts
        self.finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        self.heard_at_s = 0.0
        self.tail = b""
        self.size_bytes = 0
        self.asked_at_s = time.perf_counter()
        if self.asked_at_s < self.ends_at_s:
            self.transport.write(self.request)
        else:
            self.finished.set_result(None)
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        if not self.tail and not data.startswith(GOOD):
            self.counts.refused += 1
            self.transport.abort()
            return
        if self.keeps_gaps:
            now_s = time.perf_counter()
            if self.heard_at_s:
                self.counts.gaps_s.append(now_s - self.heard_at_s)
            self.heard_at_s = now_s
        self.size_bytes += len(data)
        self.tail = (self.tail + data)[-self.tail_bytes :]
        if self.tail == self.ending:
            self.counts.latencies_s.append(time.perf_counter() - self.asked_at_s)
            self.counts.incomplete += self.size_bytes < self.size_bytes_min
            self.ask()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.finished.done():
            self.finished.set_exception(error or ConnectionResetError("closed before the answer was whole"))


async def use(port: int, scenario: Scenario, pattern: Pattern, ends_at_s: float, counts: Counts) -> None:
    """One user to the end of the phase, on a new connection whenever one breaks."""
    while counts.broken < BROKEN_MAX:
        _, user = await asyncio.get_running_loop().create_connection(
            lambda: User(scenario, pattern, ends_at_s, counts), "127.0.0.1", port
        )
        try:
            return await user.finished
        except OSError:
            counts.broken += 1
    return None


async def phase(port: int, scenario: Scenario, pattern: Pattern, seconds: float) -> tuple[Counts, float]:
    """All users for a while; the counts, and the time until the last answer."""
    counts = Counts()
    started_at_s = time.perf_counter()
    async with asyncio.timeout(seconds + DRAIN_S_MAX), asyncio.TaskGroup() as tasks:
        for _ in range(scenario.connections):
            tasks.create_task(use(port, scenario, pattern, started_at_s + seconds, counts))
    return counts, time.perf_counter() - started_at_s


class Whole:
    """Parses one answer to its end."""

    def __init__(self) -> None:
        self.parser = httptools.HttpResponseParser(self)
        self.is_whole = False

    def on_message_complete(self) -> None:
        self.is_whole = True


def learn_pattern(port: int, request: bytes) -> Pattern:
    """From one answer, parsed to its end."""
    answer, raw = Whole(), b""
    with socket.create_connection(("127.0.0.1", port), timeout=DRAIN_S_MAX) as connection:
        connection.sendall(request)
        while not answer.is_whole:
            data = connection.recv(65536)
            if not data:
                raise ConnectionResetError("closed before the answer was whole")
            answer.parser.feed_data(data)
            raw += data
    if not raw.startswith(GOOD):
        raise ValueError(f"not an answer to measure: {raw[:300]!r}")
    ending = LAST_CHUNK if raw.endswith(LAST_CHUNK) else raw[-16:]
    return Pattern(ending=ending, size_bytes=len(raw))


async def main(port: int, scenario: Scenario, seconds: float, warm_up_seconds: float) -> None:
    """Warm up, wait for the word, measure, print."""
    pattern = learn_pattern(port, scenario.request())
    await phase(port, scenario, pattern, warm_up_seconds)
    gc.disable()
    print("ready", flush=True)
    sys.stdin.readline()
    counts, elapsed_s = await phase(port, scenario, pattern, seconds)
    print(summary(counts, elapsed_s), flush=True)


def summary(counts: Counts, elapsed_s: float) -> str:
    """JSON."""
    ordered, gaps = sorted(counts.latencies_s), sorted(counts.gaps_s)
    return json.dumps(
        {
            "requests": len(ordered),
            "elapsed_s": elapsed_s,
            "p50_ms": 1000 * ordered[len(ordered) // 2] if ordered else 0.0,
            "p99_ms": 1000 * ordered[len(ordered) * 99 // 100] if ordered else 0.0,
            "gap_p50_ms": 1000 * gaps[len(gaps) // 2] if gaps else 0.0,
            "gap_p99_ms": 1000 * gaps[len(gaps) * 99 // 100] if gaps else 0.0,
            "refused": counts.refused,
            "incomplete": counts.incomplete,
            "broken": counts.broken,
        }
    )


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), SCENARIOS[sys.argv[2]], float(sys.argv[3]), float(sys.argv[4])))
