"""Every source of leases behaves alike: the counters in this process, in Redis, and behind the supervisor's socket."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.leases import NO_WINDOW, LeaseAnswer, LeaseCall, LeaseReport, LeaseSource, LimitCounter, Want
from heterodyne.stores.leases.host import HostLeases
from heterodyne.stores.leases.memory import MemoryLeases
from heterodyne.stores.leases.server import serve_leases
from heterodyne.stores.redis.leases import RedisLeases
from tests.support.redis_server import RedisServer

HOLDER_TTL_S = 0.4
DEADLINE_S = 10.0
MINUTE = int(time.time()) // 60 * 60

Used = Callable[[str, int], Awaitable[int]]
Bench = tuple[Callable[[], LeaseSource], Used]  # how a worker gets to the source, and what the source has counted


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@asynccontextmanager
async def _memory(redis: RedisServer) -> AsyncIterator[Bench]:
    source = MemoryLeases(holder_ttl_s=HOLDER_TTL_S)

    async def used(counter: str, window: int) -> int:
        return source.used(counter, window)

    yield lambda: source, used


async def _used_of(source: RedisLeases, counter: str, window: int) -> int:
    (used,) = await source.read([LimitCounter(counter, window)])
    return used


@asynccontextmanager
async def _redis(redis: RedisServer) -> AsyncIterator[Bench]:
    opened: list[RedisLeases] = []
    prefix = f"{uuid4().hex}:"

    def connect() -> RedisLeases:
        opened.append(RedisLeases(redis.url, holder_ttl_s=HOLDER_TTL_S, timeout_s=5.0, prefix=prefix))
        return opened[-1]

    yield connect, partial(_used_of, connect())
    for source in opened:
        await source.close()


@asynccontextmanager
async def _host(redis: RedisServer) -> AsyncIterator[Bench]:
    async with _memory(redis) as (connect, used), _lent(connect()) as connect_worker:
        yield connect_worker, used


@asynccontextmanager
async def _host_of_redis(redis: RedisServer) -> AsyncIterator[Bench]:
    async with _redis(redis) as (connect, used), _lent(connect()) as connect_worker:
        yield connect_worker, used


@asynccontextmanager
async def _lent(source: LeaseSource) -> AsyncIterator[Callable[[], LeaseSource]]:
    opened: list[HostLeases] = []

    def connect() -> HostLeases:
        opened.append(HostLeases(path, timeout_s=5.0))
        return opened[-1]

    with tempfile.TemporaryDirectory(prefix="lend-") as folder:
        path = Path(folder) / "leases.sock"
        async with serve_leases(path, source):
            yield connect
            for worker in opened:
                await worker.close()


@pytest.fixture(params=[_memory, _redis, _host, _host_of_redis], ids=["memory", "redis", "host", "host of redis"])
def open_source(request: pytest.FixtureRequest, redis: RedisServer) -> Any:
    return lambda: request.param(redis)


def want(
    counter: str = "c", *, limit: int = 10, at_least: int = 1, wanted: int | None = None, window: int = MINUTE
) -> Want:
    ends_s = 0.0 if window == NO_WINDOW else window + 60.0
    return Want(
        counter=counter, window=window, ends_s=ends_s, limit=limit, at_least=at_least, wanted=wanted or at_least
    )


def report(amount: int, counter: str = "c", window: int = MINUTE) -> LeaseReport:
    return LeaseReport(
        counter=counter, window=window, ends_s=0.0 if window == NO_WINDOW else window + 60.0, amount=amount
    )


async def take(source: LeaseSource, holder: str, sequence: int, *groups: tuple[Want, ...]) -> LeaseAnswer:
    return await source.exchange(LeaseCall(holder=holder, sequence=sequence, groups=groups))


async def tell(source: LeaseSource, holder: str, sequence: int, *reports: LeaseReport) -> LeaseAnswer:
    return await source.exchange(LeaseCall(holder=holder, sequence=sequence, reports=reports))


async def test_what_is_lent_is_counted_and_never_over_the_limit(open_source: Any) -> None:
    async with open_source() as (connect, used):
        source = connect()
        amounts = []
        for sequence in range(1, 13):
            answer = await take(source, "a", sequence, (want(),))
            amounts.append(answer.groups[0][0].amount)
        assert amounts == [1] * 10 + [0] * 2
        assert answer.groups[0][0].left == 0
        assert await used("c", MINUTE) == 10


async def test_a_group_gets_all_it_needs_or_nothing(open_source: Any) -> None:
    async with open_source() as (connect, used):
        answer = await take(
            connect(), "a", 1, (want("key"), want("project", at_least=11)), (want("key"), want("organisation"))
        )
        assert [[grant.amount for grant in group] for group in answer.groups] == [[0, 0], [1, 1]]
        assert [await used(name, MINUTE) for name in ("key", "project", "organisation")] == [1, 0, 1]


async def test_windows_are_counted_apart(open_source: Any) -> None:
    async with open_source() as (connect, used):
        source = connect()
        await take(source, "a", 1, (want(at_least=10),))
        answer = await take(source, "a", 2, (want(at_least=10, window=MINUTE + 60),))
        assert answer.groups[0][0].amount == 10
        assert await used("c", MINUTE) == await used("c", MINUTE + 60) == 10


async def test_much_is_lent_while_much_is_left_and_little_when_little_is(open_source: Any) -> None:
    async with open_source() as (connect, _):
        source = connect()
        first = await take(source, "a", 1, (want(limit=1000, at_least=1, wanted=100),))
        assert first.groups[0][0].amount == 100
        amounts = []
        for sequence in range(2, 40):
            answer = await take(source, "a", sequence, (want(limit=1000, at_least=1, wanted=10_000),))
            amounts.append(answer.groups[0][0].amount)
        assert amounts == sorted(amounts, reverse=True)
        assert amounts[0] == 450, "half of what is left, for a single holder"
        assert amounts[-1] == 0
        assert sum(amounts) == 900


async def test_what_is_given_back_can_be_lent_again_and_what_is_owed_is_counted(open_source: Any) -> None:
    async with open_source() as (connect, used):
        source = connect()
        await take(source, "a", 1, (want(at_least=10),))
        await tell(source, "a", 2, report(-4))
        assert await used("c", MINUTE) == 6
        await tell(source, "a", 3, report(7))
        assert await used("c", MINUTE) == 13, "the truth is counted even where it is over the limit"
        answer = await take(source, "a", 4, (want(),))
        assert (answer.groups[0][0].amount, answer.groups[0][0].left) == (0, -3)


async def test_a_call_sent_twice_counts_once_and_has_one_answer(open_source: Any) -> None:
    async with open_source() as (connect, used):
        call = LeaseCall(holder="a", sequence=1, reports=(report(2),), groups=((want(at_least=3),),))
        first = await connect().exchange(call)
        again = await connect().exchange(call)
        assert first == again
        assert await used("c", MINUTE) == 5


async def test_nothing_is_below_zero(open_source: Any) -> None:
    async with open_source() as (connect, used):
        source = connect()
        await tell(source, "a", 1, report(-5))
        assert await used("c", MINUTE) == 0
        answer = await take(source, "a", 2, (want(at_least=11),))
        assert answer.groups[0][0].amount == 0


async def test_amounts_of_a_months_micro_dollars_are_exact(open_source: Any) -> None:
    async with open_source() as (connect, used):
        source = connect()
        large = 10**15 + 1
        await take(source, "a", 1, (want(limit=2 * 10**15, at_least=large),))
        await tell(source, "a", 2, report(1))
        assert await used("c", MINUTE) == large + 1


async def test_what_runs_is_counted_over_all_holders_and_said_in_full(open_source: Any) -> None:
    async with open_source() as (connect, used):
        a, b = connect(), connect()
        running = want(limit=3, window=NO_WINDOW)
        await take(a, "a", 1, (running,), (running,))
        answer = await take(b, "b", 1, (running,), (running,))
        assert [group[0].amount for group in answer.groups] == [1, 0]
        await tell(a, "a", 2, report(1, window=NO_WINDOW))
        assert await used("c", NO_WINDOW) == 2
        answer = await take(b, "b", 2, (running,))
        assert answer.groups[0][0].amount == 1
        await tell(a, "a", 3, report(0, window=NO_WINDOW))
        await tell(b, "b", 3, report(0, window=NO_WINDOW))
        assert await used("c", NO_WINDOW) == 0


async def test_what_a_silent_holder_ran_comes_back_and_its_windows_stay_counted(open_source: Any) -> None:
    async with open_source() as (connect, used):
        a, b = connect(), connect()
        answer = await take(a, "a", 1, (want(limit=2, at_least=2, window=NO_WINDOW), want("w", at_least=4)))
        assert answer.groups[0][0].amount == 2
        await _until(lambda sequence: _is_lent(b, "b", sequence, want(limit=2, at_least=2, window=NO_WINDOW)))
        assert await used("w", MINUTE) == 4
        # The silent one was only slow, and says again what it runs: the limit is exceeded, and nobody gets more.
        await tell(a, "a", 2, report(2, window=NO_WINDOW))
        assert await used("c", NO_WINDOW) == 4


async def test_whoever_leaves_no_longer_runs_anything(open_source: Any) -> None:
    async with open_source() as (connect, _):
        a, b = connect(), connect()
        await take(a, "a", 1, (want(limit=2, at_least=2, window=NO_WINDOW),))
        await a.leave("a")
        await _until(lambda sequence: _is_lent(b, "b", sequence, want(limit=2, at_least=2, window=NO_WINDOW)))


async def test_holders_are_those_heard_of_lately(open_source: Any) -> None:
    async with open_source() as (connect, _):
        a, b = connect(), connect()
        assert (await tell(a, "a", 1)).holders == 1
        assert (await tell(b, "b", 1)).holders == 2

        async def is_alone(sequence: int) -> bool:
            return (await tell(b, "b", sequence)).holders == 1

        await _until(is_alone)


async def test_many_at_once_get_exactly_what_there_is(open_source: Any) -> None:
    async with open_source() as (connect, used):

        async def worker(name: str) -> int:
            source, got = connect(), 0
            for sequence in range(1, 40):
                answer = await take(source, name, sequence, (want(limit=100, at_least=1, wanted=3),))
                got += answer.groups[0][0].amount
            return got

        assert sum(await asyncio.gather(*(worker(f"w{number}") for number in range(6)))) == 100
        assert await used("c", MINUTE) == 100


async def test_a_redis_that_is_not_there_is_unavailable_and_its_address_is_not_told() -> None:
    source = RedisLeases("redis://:hunter2@127.0.0.1:1/0")
    with pytest.raises(StoreUnavailable) as caught:
        await tell(source, "a", 1)
    assert "hunter2" not in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)
    await source.close()


async def test_a_redis_that_began_again_has_another_epoch_and_one_that_keeps_has_not() -> None:
    for keeps in (True, False):
        with RedisServer(keeps=keeps) as server:
            source = RedisLeases(server.url, timeout_s=5.0)
            before = await take(source, "a", 1, (want(at_least=4),))
            server.kill()
            with pytest.raises(StoreUnavailable):
                await tell(source, "a", 2, report(1))
            server.start()
            after = await tell(source, "a", 2, report(1))
            assert (after.epoch == before.epoch) is keeps
            assert await _used_of(source, "c", MINUTE) == (5 if keeps else 1)
            await source.close()


async def test_a_supervisor_that_comes_back_is_found_again() -> None:
    source = MemoryLeases()
    with tempfile.TemporaryDirectory(prefix="lend-") as folder:
        path = Path(folder) / "leases.sock"
        worker = HostLeases(path)
        with pytest.raises(StoreUnavailable):
            await take(worker, "a", 1, (want(),))
        async with serve_leases(path, source):
            await take(worker, "a", 1, (want(),))
        with pytest.raises(StoreUnavailable):
            await take(worker, "a", 2, (want(),))
        async with serve_leases(path, source):
            await take(worker, "a", 2, (want(),))
            await worker.close()
    assert source.used("c", MINUTE) == 2


async def test_a_supervisor_whose_redis_is_away_says_so() -> None:
    behind = RedisLeases("redis://127.0.0.1:1/0")
    with tempfile.TemporaryDirectory(prefix="lend-") as folder:
        path = Path(folder) / "leases.sock"
        async with serve_leases(path, behind):
            worker = HostLeases(path)
            for sequence in (1, 2):
                with pytest.raises(StoreUnavailable):
                    await take(worker, "a", sequence, (want(),))
            await worker.close()


def test_days_and_months_outlive_the_process_and_minutes_do_not() -> None:
    now_s = MINUTE + 1.0
    first = MemoryLeases(clock=lambda: now_s)
    day = Want(counter="d", window=MINUTE, ends_s=MINUTE + 86_400.0, limit=10, at_least=3, wanted=3)
    first.exchange_now(LeaseCall(holder="a", sequence=1, groups=((day, want()),)))
    saved = first.snapshot()
    second = MemoryLeases(clock=lambda: now_s)
    second.restore(saved)
    assert second.used("d", MINUTE) == 3
    assert second.used("c", MINUTE) == 0


def test_counters_in_memory_are_dropped_when_their_window_is_long_over() -> None:
    clock = [float(MINUTE)]
    source = MemoryLeases(clock=lambda: clock[0])
    for minute in range(100):
        clock[0] = MINUTE + 60.0 * minute
        source.exchange_now(LeaseCall(holder="a", sequence=minute + 1, groups=((want(window=MINUTE + 60 * minute),),)))
    assert len(source._windows) <= 4


async def _until(condition: Callable[[int], Awaitable[bool]]) -> None:
    """Try with rising sequence numbers."""
    deadline = time.monotonic() + DEADLINE_S
    sequence = 100
    while not await condition(sequence):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
        sequence += 1


async def _is_lent(source: LeaseSource, holder: str, sequence: int, wanted: Want) -> bool:
    return bool((await take(source, holder, sequence, (wanted,))).groups[0][0].amount)
