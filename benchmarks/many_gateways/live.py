"""`make bench-many-gateways-live`: four gateways, one Redis, 64 live emulated replicas, and what is taken away of them.

Redis is killed for a minute under load, then one gateway is killed for good. Clients ask one gateway after the other in
turn, and another one when an answer breaks. What they got is held against the books.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmarks import machine
from benchmarks.many_gateways.live_results import RESULTS, Live
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.usage import GATEWAY_KILLED, RequestQuery
from heterodyne.emulator.server import EmulatorServer
from heterodyne.ports.books import BookStore
from heterodyne.stores.open_store import books_in, open_database
from heterodyne.testing.serve_process import ServeProcess
from tests.support.emulators import order
from tests.support.postgres_server import database
from tests.support.raw_client import connected
from tests.support.redis_server import RedisServer
from tests.support.requests import chat

GATEWAYS, REPLICAS = 4, 64
MODEL = "llama-3.1-8b"
READY_S = 120.0
BOOKED_S = 120.0
POLL_S = 0.1
TOKENS = 40  # of an answer: the machine has to carry all replicas
SPEED = 1.0  # of the replicas
PATIENCE_S = 120.0  # of a client: a busy machine is slow, and that is not what is asked


class Clients:
    """An open loop: so many requests a second, whatever becomes of them."""

    def __init__(self, ports: list[int], rate: float) -> None:
        self.outcomes: Counter[str] = Counter()  # by phase and outcome
        self.phase = "before"
        self.open: Counter[int] = Counter()  # answers under way, by gateway
        self.broken = 0  # answers that broke off and were asked for again
        self.whole = 0
        self._ports = ports
        self._rate = rate
        self._number = 0

    async def run(self, until: Callable[[], bool]) -> None:
        """Returns when the last answer has come."""
        begins_s = time.monotonic()
        async with asyncio.TaskGroup() as group:
            while not until():
                self._number += 1
                group.create_task(self._ask(self._number, self.phase))
                await asyncio.sleep(max(0.0, begins_s + self._number / self._rate - time.monotonic()))

    async def _ask(self, number: int, phase: str) -> None:
        body = chat(
            model=MODEL,
            stream=True,
            max_tokens=TOKENS,
            messages=[{"role": "user", "content": f"{number}: tell me about the weather of that day"}],
        )
        for turn in range(GATEWAYS):
            port = self._ports[(number + turn) % GATEWAYS]
            try:
                async with connected(port) as client:
                    await client.send(body)
                    self.open[port] += 1
                    try:
                        answer = await client.answer(PATIENCE_S)
                    finally:
                        self.open[port] -= 1
            except TimeoutError:
                self.outcomes[f"{phase} late"] += 1
                return
            except ConnectionRefusedError:
                continue  # nobody is there: it cost nothing
            except (OSError, EOFError, ValueError, AssertionError):
                self.broken += 1
                continue
            is_whole = answer.status == 200 and answer.body.rstrip().endswith(b"[DONE]")
            self.whole += is_whole
            self.outcomes[f"{phase} {'whole' if is_whole else answer.status}"] += 1
            return
        self.outcomes[f"{phase} nobody"] += 1


@asynccontextmanager
async def replicas() -> AsyncIterator[list[EmulatorServer]]:
    """All of them, in this process."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(EmulatorServer(order(speed=SPEED, output_tokens_mean=TOKENS)))
            for _ in range(REPLICAS)
        ]


@contextmanager
def gateways(folder: Path, config: str) -> Iterator[list[ServeProcess]]:
    with ExitStack() as stack:
        opened = []
        for number in range(GATEWAYS):
            place = folder / f"gateway-{number}"
            place.mkdir()
            opened.append(stack.enter_context(ServeProcess(place, "--workers", "1", config=config)))
        yield opened


async def measure(rate: float, away_s: float, calm_s: float) -> Live:
    """All of it once."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gateways-")))
        redis = stack.enter_context(RedisServer(keeps=False))
        url = stack.enter_context(database())
        async with replicas() as engines:
            urls = ", ".join(f'"{engine.url}"' for engine in engines)
            config = (
                f'[stores]\nurl = "{url}"\nfleet_url = "{redis.url}"\n'
                f'[pools.pool]\nmodel = "{MODEL}"\nengine = "vllm"\nurls = [{urls}]\n'
            )
            started = stack.enter_context(gateways(folder, config))
            for serve in started:
                await asyncio.to_thread(serve.wait_ready, READY_S, replicas=REPLICAS)
            await _until(lambda: _together(started), READY_S)
            return await _acts(started, engines, redis, url, rate=rate, away_s=away_s, calm_s=calm_s)


async def _acts(
    started: list[ServeProcess],
    engines: list[EmulatorServer],
    redis: RedisServer,
    url: str,
    *,
    rate: float,
    away_s: float,
    calm_s: float,
) -> Live:
    clients = Clients([int(serve.url.rpartition(":")[2]) for serve in started], rate)
    is_over = asyncio.Event()
    asking = asyncio.create_task(clients.run(is_over.is_set))
    await asyncio.sleep(calm_s)
    clients.phase = "away"
    redis.kill()
    await asyncio.sleep(away_s)
    clients.phase = "back"
    await asyncio.to_thread(redis.start)
    at_s = time.monotonic()
    await _until(lambda: _together(started), READY_S)
    back_s = time.monotonic() - at_s
    await asyncio.sleep(calm_s)
    victim = started[-1]
    port = int(victim.url.rpartition(":")[2])
    await _until(lambda: clients.open[port] > 0, READY_S)
    clients.phase = "killed"
    for pid in (victim.process.pid, *victim.children()):
        os.kill(pid, signal.SIGKILL)
    await asyncio.sleep(calm_s)
    is_over.set()
    await asking
    spread = [sum(engine.engine.observations.finished.values()) for engine in engines]
    again = ServeProcess(Path(victim.config_file).parent, "--workers", "1", config=victim.config_file.read_text())
    with again:
        await asyncio.to_thread(again.wait_ready, READY_S)
        whole, killed = await _booked(url, clients.whole, clients.broken)
    return Live(
        at=f"{datetime.now(UTC):%Y-%m-%d}, {machine.describe()}",
        gateways=GATEWAYS,
        replicas=REPLICAS,
        rate=rate,
        away_s=away_s,
        outcomes=dict(clients.outcomes),
        back_s=back_s,
        broken=clients.broken,
        whole=clients.whole,
        booked_whole=whole,
        booked_killed=killed,
        hottest=max(spread) * len(spread) / sum(spread),
        coldest=min(spread) * len(spread) / sum(spread),
    )


def _together(started: list[ServeProcess]) -> bool:
    return all(_peers(serve) == GATEWAYS - 1 for serve in started)


def _peers(serve: ServeProcess) -> float:
    """Workers that this gateway hears of."""
    try:
        with urllib.request.urlopen(f"{serve.url}/metrics", timeout=5) as page:
            lines = page.read().decode().splitlines()
    except OSError:
        return -1.0
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("heterodyne_routing_report_peers"))


async def _booked(url: str, whole: int, broken: int) -> tuple[int, int]:
    """What the books have in the end: answers that came whole, and those that a killed gateway left behind."""
    opened = await open_database(url, os.environ)
    try:
        ends_s = time.monotonic() + BOOKED_S
        found = (0, 0)
        while True:
            with suppress(StoreUnavailable):  # a busy machine
                found = await _count(books_in(opened))
            if found == (whole, broken) or time.monotonic() > ends_s:
                return found
            await asyncio.sleep(1.0)
    finally:
        await opened.close()


async def _until(is_so: Callable[[], bool], within_s: float) -> None:
    async with asyncio.timeout(within_s):
        while not await asyncio.to_thread(is_so):
            await asyncio.sleep(POLL_S)


async def _count(books: BookStore) -> tuple[int, int]:
    whole = killed = 0
    after = None
    while True:
        page = await books.requests(RequestQuery(limit=500, after=after))
        killed += sum(one.reason == GATEWAY_KILLED for one in page.records)
        whole += sum(not one.reason for one in page.records)
        after = page.next
        if after is None:
            return whole, killed


def main() -> int:
    """One run, written beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=2.0, help="requests a second")
    parser.add_argument("--away-s", type=float, default=60.0, help="that Redis is killed for")
    parser.add_argument("--calm-s", type=float, default=15.0, help="before, between and after")
    options = parser.parse_args()
    live = asyncio.run(measure(options.rate, options.away_s, options.calm_s))
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(live), indent=1) + b"\n")
    print(json.dumps(msgspec.to_builtins(live), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
