"""Four gateways, each a `heterodyne serve` of its own, on one Redis and one PostgreSQL, and 64 clients that hammer."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager

import pytest
from click.testing import CliRunner
from msgspec import Struct

from heterodyne.cli.main import cli
from heterodyne.ports.leases import LimitCounter
from heterodyne.stores.redis.leases import RedisLeases
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.minutes import this_minute, wait_for_room
from tests.support.postgres_server import database
from tests.support.raw_client import connected
from tests.support.redis_server import RedisServer
from tests.support.requests import MODEL, chat
from tests.support.tenants import bearer
from tests.support.threads import in_thread

GATEWAYS, CLIENTS = 4, 64
REQUESTS, TOKENS = 300, 3000
USED = 10  # tokens of one request, as the engine counts them
HAMMER_S = 12.0  # at most; it ends when the limits have been reached for a while
QUIET_S = 2.0
PAUSE_S = 0.02  # of a client that was refused


class Key(Struct, frozen=True):
    """One that was issued."""

    id: str
    secret: str


class FourGateways:
    """All four of them, and what they share."""

    def __init__(self, gateways: list[ServeProcess], redis: RedisServer) -> None:
        self.gateways = gateways
        self.redis = redis
        self.ports = [int(serve.url.rpartition(":")[2]) for serve in gateways]
        self._projects = 0

    def say(self, *words: str, gateway: int = 0) -> str:
        """A command against one of them."""
        words = (*words, "--url", self.gateways[gateway].admin_url)
        result = CliRunner().invoke(cli, list(words), prog_name="heterodyne")
        assert result.exit_code == 0, (words, result.output, result.exception)
        return result.stdout

    async def issue(self, *limits: str) -> tuple[str, Key]:
        """A project with these limits and a key of it that all four know."""
        self._projects += 1
        project = f"acme/p{self._projects}"
        self.say("tenants", "create", project, *(word for limit in limits for word in ("--limit", limit)))
        issued = json.loads(self.say("keys", "create", project, "--json"))
        key = Key(issued["key"]["id"], issued["secret"])
        for port in self.ports:
            # Asked of an unknown model, so that nothing is used up.
            await _until_status(port, key, 404, model="nobody")
        return project, key


@pytest.fixture(scope="module")
def four_gateways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FourGateways]:
    with ExitStack() as stack:
        engine = stack.enter_context(in_thread(ScriptedEngine(behaviours.stream(3))))
        redis = stack.enter_context(RedisServer(keeps=True))
        config = "\n".join(
            (
                f'[stores]\nurl = "{stack.enter_context(database())}"\nredis_url = "{redis.url}"',
                '[admission]\nlimits_when_unreachable = "closed"',
                f'[pools.pool]\nmodel = "{MODEL}"\nurls = ["{engine.url}"]',
            )
        )
        folders = [tmp_path_factory.mktemp(f"gateway-{number}") for number in range(GATEWAYS)]
        gateways = [stack.enter_context(ServeProcess(folder, config=config)) for folder in folders]
        for serve in gateways:
            serve.wait_ready()
        four_gateways = FourGateways(gateways, redis)
        four_gateways.say("tenants", "create", "acme")
        yield four_gateways
        for serve in gateways:
            assert serve.stop() == 0, serve.log


async def test_four_gateways_keep_one_limit_and_use_it(four_gateways: FourGateways) -> None:
    by_requests, first = await four_gateways.issue(f"requests_per_minute={REQUESTS}")
    by_tokens, second = await four_gateways.issue(f"tokens_per_minute={TOKENS}")
    wait_for_room(HAMMER_S)
    minute = this_minute()
    async with hammering(four_gateways.ports, (first, second)) as hammer:
        await hammer.wait_quiet()
    assert this_minute() == minute
    for key in (first, second):
        assert {200, 429} <= hammer.statuses(key) <= {200, 429, 503}, "503: Redis was slow once, on a busy machine"
        assert hammer.ports(key, 200) == set(four_gateways.ports), "each had a part"
    assert 0.9 * REQUESTS <= hammer.taken(first) <= REQUESTS
    assert 0.9 * TOKENS <= hammer.taken(second) * USED <= TOKENS + USED
    if 503 not in hammer.statuses(first) | hammer.statuses(second):  # what came too late is counted, and used by nobody
        requests, tokens = hammer.taken(first), hammer.taken(second) * USED
        await _until_counted(four_gateways, f"project:{by_requests} requests_per_minute", minute, requests)
        await _until_counted(four_gateways, f"project:{by_tokens} tokens_per_minute", minute, tokens)


async def test_the_limit_holds_while_redis_is_killed_and_started_again(four_gateways: FourGateways) -> None:
    project, key = await four_gateways.issue(f"requests_per_minute={REQUESTS}")
    wait_for_room(HAMMER_S)
    minute = this_minute()
    async with hammering(four_gateways.ports, (key,)) as hammer:
        await hammer.wait_for(lambda: hammer.taken(key) >= REQUESTS // 4)
        four_gateways.redis.kill()
        await hammer.wait_for(lambda: len(hammer.ports(key, 503)) == GATEWAYS)
        while_away = hammer.taken(key)
        four_gateways.redis.start()
        await hammer.wait_quiet()
    assert this_minute() == minute
    assert while_away < 0.9 * REQUESTS, "it was killed in the middle"
    assert hammer.statuses(key) == {200, 429, 503}
    assert 0.9 * REQUESTS <= hammer.taken(key) <= REQUESTS
    await _until_counted(four_gateways, f"project:{project} requests_per_minute", minute, hammer.taken(key))


async def test_a_revoked_key_is_refused_by_all_of_them(four_gateways: FourGateways) -> None:
    """Sooner than they would look by themselves: PostgreSQL tells them."""
    _, key = await four_gateways.issue()
    for port in four_gateways.ports:
        await _until_status(port, key, 200)
    four_gateways.say("keys", "revoke", key.id, gateway=2)
    assert await _status(four_gateways.ports[2], key) == 401, "at once where it was revoked"
    async with asyncio.timeout(30):
        await asyncio.gather(*(_until_status(port, key, 401) for port in four_gateways.ports))


class Hammer:
    """What clients saw, by key."""

    def __init__(self, keys: tuple[Key, ...]) -> None:
        self._saw: dict[Key, Counter[tuple[int, int]]] = {key: Counter() for key in keys}  # status and port
        self.is_over = False
        self._taken_s = time.monotonic()

    def taken(self, key: Key) -> int:
        """Requests that were let in."""
        return sum(count for (status, _), count in self._saw[key].items() if status == 200)

    def statuses(self, key: Key) -> set[int]:
        """Every kind of answer there was."""
        return {status for status, _ in self._saw[key]}

    def ports(self, key: Key, status: int) -> set[int]:
        """Which gateways answered like this."""
        return {port for seen, port in self._saw[key] if seen == status}

    async def ask_on_and_on(self, port: int, key: Key) -> None:
        """One client on one connection. It never takes no for an answer for long."""
        request = chat(bearer(key.secret), max_tokens=3)
        async with connected(port) as client:
            while not self.is_over:
                answer = await client.ask(request)
                self._saw[key][answer.status, port] += 1
                if answer.status == 200:
                    self._taken_s = time.monotonic()
                else:
                    await asyncio.sleep(PAUSE_S)

    async def wait_for(self, is_so: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(HAMMER_S):
                while not is_so():
                    await asyncio.sleep(0.01)
        finally:
            self.is_over = not is_so()  # nobody goes on after a failure

    async def wait_quiet(self) -> None:
        """Until nobody has been let in for a while."""
        await self.wait_for(lambda: time.monotonic() - self._taken_s > QUIET_S)


@asynccontextmanager
async def hammering(ports: list[int], keys: tuple[Key, ...]) -> AsyncIterator[Hammer]:
    """All clients at work inside the block, spread evenly over gateways and keys."""
    hammer = Hammer(keys)
    async with asyncio.TaskGroup() as group:
        for number in range(CLIENTS):
            port, key = ports[number % len(ports)], keys[number // len(ports) % len(keys)]
            group.create_task(hammer.ask_on_and_on(port, key))
        yield hammer
        hammer.is_over = True


async def _status(port: int, key: Key, **fields: object) -> int:
    async with connected(port) as client:
        return (await client.ask(chat(bearer(key.secret), **fields))).status


async def _until_status(port: int, key: Key, status: int, **fields: object) -> None:
    async with asyncio.timeout(30):
        while await _status(port, key, **fields) != status:
            await asyncio.sleep(0.02)


async def _until_counted(four_gateways: FourGateways, counter: str, window: int, used: int) -> None:
    """What Redis has counted is what clients used, once leases that nobody needs are given back."""
    source = RedisLeases(four_gateways.redis.url, timeout_s=5.0)
    try:
        for _ in range(500):
            (counted,) = await source.read([LimitCounter(counter, window)])
            if counted == used:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{counter}: {counted} counted, {used} used")
    finally:
        await source.close()
