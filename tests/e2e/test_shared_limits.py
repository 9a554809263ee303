"""Four gateway processes share one Redis and 64 clients hammer them: limits hold and the counters balance."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median

import msgspec
import pytest

from heterodyne.admission.limits.when_unreachable import WhenUnreachable
from heterodyne.domain.tenant import Limits
from heterodyne.ports.leases import NO_WINDOW, LimitCounter
from heterodyne.stores.redis.leases import RedisLeases
from tests.support.limit_gateway import MINUTE_S, Order, Told
from tests.support.redis_server import RedisServer

GATEWAYS = 4
CLIENTS = 64
ROOT = Path(__file__).parents[2]
LEAVE_S = 60.0
TIMEOUT_S = 20.0  # a Redis that a busy machine starves is slow and not away; a killed one refuses at once

REQUESTS, TOKENS, RUNNING = 100, 1500, 8
LIMITS = Limits(requests_per_minute=REQUESTS, tokens_per_minute=TOKENS, concurrent_requests=RUNNING)


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with RedisServer(keeps=True) as server:
        yield server


async def test_four_gateways_keep_one_limit_over_many_windows_and_use_it(redis: RedisServer) -> None:
    told = _hammer(redis, lambda: time.sleep(6.0 * MINUTE_S))
    requests, tokens = _sums(told)
    assert max(requests.values()) <= REQUESTS
    assert max(tokens.values()) <= TOKENS, "estimates were never too small here, so there is no excess"
    assert max(each.running_max for each in told) <= RUNNING
    whole = sorted(requests)[1:-1]  # the first and the last were cut short
    assert len(whole) >= 3
    fullness = [max(requests[window] / REQUESTS, tokens[window] / TOKENS) for window in whole]
    assert median(fullness) >= 0.9, fullness
    assert any(each.limited for each in told)
    assert any(each.cancelled for each in told)
    assert not any(each.alone for each in told)
    _check_few_contended(told, requests)
    await _assert_balanced(redis, requests, tokens)


async def test_a_redis_killed_in_the_middle_refuses_and_loses_nothing_when_limits_fail_closed(
    redis: RedisServer,
) -> None:
    outage: list[float] = []
    told = _hammer(redis, _restart(redis, outage), when_unreachable=WhenUnreachable.CLOSED)
    requests, tokens = _sums(told)
    assert max(requests.values()) <= REQUESTS
    assert max(tokens.values()) <= TOKENS
    assert any(each.unavailable for each in told)
    assert not any(each.alone for each in told)
    assert min(requests) < outage[0]
    assert max(requests) >= outage[1], "served again"
    await _assert_balanced(redis, requests, tokens)


async def test_a_redis_killed_in_the_middle_lets_a_bounded_part_through_when_limits_fail_open(
    redis: RedisServer,
) -> None:
    outage: list[float] = []
    told = _hammer(redis, _restart(redis, outage), when_unreachable=WhenUnreachable.OPEN)
    requests, tokens = _sums(told)
    _check_few_contended(told, requests)
    assert any(each.alone for each in told)
    # No gateway takes more than it had leased or its part, whichever is more, and both together are the limit at most.
    assert max(requests.values()) <= 2 * REQUESTS
    assert max(tokens.values()) <= 2 * TOKENS
    before = [window for window in requests if window + MINUTE_S <= outage[0]]
    assert before
    assert max(requests[window] for window in before) <= REQUESTS
    await _assert_balanced(redis, requests, tokens)


def _check_few_contended(told: list[Told], requests: Mapping[int, int]) -> None:
    """Where a busy machine starves some gateways, a limit may be contended for longer than anybody tries."""
    assert sum(each.unavailable for each in told) <= sum(requests.values()) / 20


def _hammer(
    redis: RedisServer,
    meanwhile: Callable[[], None],
    *,
    when_unreachable: WhenUnreachable = WhenUnreachable.CLOSED,
) -> list[Told]:
    processes = [
        subprocess.Popen(
            (sys.executable, "-m", "tests.support.limit_gateway"),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(GATEWAYS)
    ]
    try:
        for number, process in enumerate(processes):
            order = Order(
                name=f"gateway-{number}",
                redis_url=redis.url,
                limits=LIMITS,
                clients=CLIENTS // GATEWAYS,
                when_unreachable=when_unreachable,
                timeout_s=TIMEOUT_S,
            )
            assert process.stdin is not None
            process.stdin.write(msgspec.json.encode(order) + b"\n")
            process.stdin.flush()
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        meanwhile()
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(b"stop\n")
            process.stdin.flush()
        said = [process.communicate(timeout=LEAVE_S)[0] for process in processes]
        return [msgspec.json.decode(each.splitlines()[-1], type=Told) for each in said]  # the log comes before it
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def _restart(redis: RedisServer, outage: list[float]) -> Callable[[], None]:
    """Away for more than a window, in the middle; `outage` hears when it began and when it ended."""

    def restart() -> None:
        time.sleep(1.5 * MINUTE_S)
        outage.append(time.time())
        redis.kill()
        time.sleep(1.2 * MINUTE_S)
        redis.start()
        outage.append(time.time())
        time.sleep(2.5 * MINUTE_S)

    return restart


def _sums(told: list[Told]) -> tuple[Counter[int], Counter[int]]:
    requests: Counter[int] = Counter()
    tokens: Counter[int] = Counter()
    for each in told:
        requests.update(each.requests)
        tokens.update(each.tokens)
    return requests, tokens


async def _assert_balanced(redis: RedisServer, requests: Counter[int], tokens: Counter[int]) -> None:
    """What Redis has counted is what clients used, to the token."""
    source = RedisLeases(redis.url, timeout_s=5.0)
    for window in requests:
        names = ("requests_per_minute", "tokens_per_minute")
        counters = [LimitCounter(f"project:acme/search {name}", window) for name in names]
        assert await source.read(counters) == (requests[window], tokens[window])
    assert await source.read([LimitCounter("project:acme/search concurrent_requests", NO_WINDOW)]) == (0,)
    await source.close()
