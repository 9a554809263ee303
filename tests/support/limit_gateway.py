"""A gateway's limits without its door: clients that reserve, wait a little and settle; run with `python -m`.

Reads one order from standard input, says `ready`, goes on until another line comes, and prints what its clients used.
"""

import asyncio
import sys
from collections import Counter
from random import Random

import msgspec
import uvloop
from msgspec import Struct

from heterodyne.admission.limits.book import LimitBook
from heterodyne.admission.limits.calendar import Calendar
from heterodyne.admission.limits.when_unreachable import WhenUnreachable
from heterodyne.domain.errors import LimitReached, StoreUnavailable
from heterodyne.domain.tenant import Level, Limits
from heterodyne.gateway.lease_client import LeaseClient
from heterodyne.stores.redis.leases import TIMEOUT_S, RedisLeases

MINUTE_S = 1
TICK_S = 0.1
TOKENS_MAX = 40


class Order(Struct, frozen=True, kw_only=True):
    """How one gateway spends its life."""

    name: str
    redis_url: str
    limits: Limits
    clients: int
    when_unreachable: WhenUnreachable = WhenUnreachable.CLOSED
    timeout_s: float = TIMEOUT_S


class Told(Struct, frozen=True, kw_only=True):
    """What it did. Counters are by window start."""

    requests: dict[int, int]
    tokens: dict[int, int]
    cancelled: int
    limited: int
    unavailable: int
    alone: int
    running_max: int


def main() -> None:
    """One life."""
    order = msgspec.json.decode(sys.stdin.readline(), type=Order)
    told = uvloop.run(_live(order))
    sys.stdout.write(msgspec.json.encode(told).decode() + "\n")


async def _live(order: Order) -> Told:
    book = LimitBook(order.name, calendar=Calendar(minute_s=MINUTE_S), tick_s=TICK_S)
    source = RedisLeases(order.redis_url, timeout_s=order.timeout_s)
    lease_client = LeaseClient(book, source, when_unreachable=order.when_unreachable, tick_s=TICK_S)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), stop.set)
    clients = _Clients(order, book, lease_client, stop)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    running = asyncio.create_task(lease_client.run())
    async with asyncio.TaskGroup() as group:
        for number in range(order.clients):
            group.create_task(clients.hammer(Random(f"{order.name} {number}")))
    while lease_client.away:
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.wait((running,))
    await lease_client.close()
    return clients.told()


class _Clients:
    def __init__(self, order: Order, book: LimitBook, lease_client: LeaseClient, stop: asyncio.Event) -> None:
        self._levels = (Level(name="project:acme/search", limits=order.limits),)
        self._stop = stop
        self._book = book
        self._lease_client = lease_client
        self._requests: Counter[int] = Counter()
        self._tokens: Counter[int] = Counter()
        self._seen: Counter[str] = Counter()
        self._running = self._running_max = 0

    async def hammer(self, random: Random) -> None:
        """One client: it never takes no for an answer for longer than a few milliseconds."""
        while not self._stop.is_set():
            try:
                await self._ask(random)
            except LimitReached:
                self._seen["limited"] += 1
                await asyncio.sleep(random.uniform(0.002, 0.02))
            except StoreUnavailable:
                self._seen["unavailable"] += 1
                await asyncio.sleep(random.uniform(0.002, 0.02))

    async def _ask(self, random: Random) -> None:
        expected = random.randint(1, TOKENS_MAX)
        reservation = await self._lease_client.reserve(self._levels, expected, 0)
        windows = [leased_counter.starts_s for leased_counter in reservation.leased_counters if leased_counter.starts_s]
        assert len(set(windows)) == 1, "both limits are of the same minute"
        self._running += 1
        self._running_max = max(self._running, self._running_max)
        await asyncio.sleep(random.uniform(0.0, 0.01))
        self._running -= 1
        fate = random.random()
        if fate < 0.1:  # no replica took it
            self._seen["cancelled"] += 1
            self._book.release(reservation)
            return
        used = expected if fate < 0.5 else random.randint(0, expected)  # some leave in the middle of their answer
        self._requests[windows[0]] += 1
        self._tokens[windows[0]] += used
        self._book.settle(reservation, used, 0)

    def told(self) -> Told:
        return Told(
            requests=dict(self._requests),
            tokens=dict(self._tokens),
            cancelled=self._seen["cancelled"],
            limited=self._seen["limited"],
            unavailable=self._seen["unavailable"],
            alone=self._lease_client.alone_total,
            running_max=self._running_max,
        )


if __name__ == "__main__":
    main()
