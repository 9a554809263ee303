"""Several gateways over the same replicas and one Redis: each knows what the others do, and none needs it to answer."""

import asyncio
import json
import os
import signal
import socket
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from heterodyne.domain.usage import GATEWAY_KILLED, RequestQuery
from heterodyne.stores.open_store import books_in, open_database
from heterodyne.telemetry import metrics
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.gateways import Rig, gateway_over
from tests.support.postgres_server import database
from tests.support.raw_client import RawClient, ask, connected
from tests.support.redis_server import RedisServer
from tests.support.requests import MODEL, chat
from tests.support.threads import in_thread

GATEWAYS, REPLICAS = 4, 8
TOLD_S = 1.0  # several turns of the reports, on a busy machine too
DEADLINE_S = 30.0
LONG = behaviours.stream(200, delay_s=0.2)
QUICK = behaviours.stream(3)
ONCE = {"retry_share": 0.0, "retry_reserve_tokens_per_s": 0.0}


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with RedisServer(keeps=False) as server:
        yield server


@asynccontextmanager
async def gateways(redis: RedisServer, count: int, engines: list[ScriptedEngine]) -> AsyncIterator[list[Rig]]:
    """So many over the same engines."""
    async with AsyncExitStack() as stack:
        rigs = [
            await stack.enter_async_context(gateway_over(*engines, stores={"fleet_url": redis.url}))
            for _ in range(count)
        ]
        for rig in rigs:
            await rig.wait(lambda rig=rig: rig.holds().replicas_takeable == len(engines))  # type: ignore[misc]
        yield rigs


async def begin(stack: AsyncExitStack, rig: Rig) -> RawClient:
    """A stream that goes on until its client leaves, from its first token."""
    client = await stack.enter_async_context(connected(rig.port))
    await client.send(chat(stream=True))
    await client.reader.readuntil(b" hello")
    return client


def held(engine: ScriptedEngine) -> int:
    return sum(not (call.was_cancelled or call.is_answered) for call in engine.calls)


async def test_load_is_spread_over_replicas_as_if_one_gateway_had_sent_it(redis: RedisServer) -> None:
    engines = [ScriptedEngine(LONG) for _ in range(REPLICAS)]
    async with gateways(redis, GATEWAYS, engines) as rigs:
        async with AsyncExitStack() as stack:
            for turn in range(2):
                for rig in rigs:
                    for _ in range(REPLICAS // GATEWAYS):
                        await begin(stack, rig)
                    await asyncio.sleep(TOLD_S)
                spread = [held(engine) for engine in engines]
                # Each alone would have put its two wherever chance took them: four on one replica, none on another.
                assert max(spread) - min(spread) <= turn + 1, (turn, spread)
            assert sum(spread) == 2 * REPLICAS
        for rig in rigs:
            await rig.wait_empty()


async def test_an_ejection_that_one_gateway_has_seen_is_heeded_by_all(redis: RedisServer) -> None:
    engines = [ScriptedEngine(QUICK) for _ in range(4)]
    bad = engines[2]
    async with gateways(redis, 3, engines) as rigs:
        bad.behaviour = behaviours.refuse(500)
        async with asyncio.timeout(DEADLINE_S):
            while "ejected" not in _obstacles(rigs[0]):
                assert (await ask(rigs[0].port, chat())).status == 200, "it is tried elsewhere"
            at_s, asked = time.monotonic(), len(bad.calls)
            for rig in rigs[1:]:
                await rig.wait(lambda rig=rig: "ejected" in _obstacles(rig))  # type: ignore[misc]
        told_s = time.monotonic() - at_s
        for rig in rigs:
            for _ in range(10):
                assert (await ask(rig.port, chat())).status == 200
        assert len(bad.calls) == asked, "nobody else had to find out"
        print(f"known to all after {told_s * 1000:.0f} ms")


def _obstacles(rig: Rig) -> set[str]:
    health = rig.server._upstream.selector.health
    return {str(one.obstacle.value) for one in health.snapshot(time.monotonic()).replicas if one.obstacle is not None}


async def test_no_request_fails_while_the_store_is_away_and_reports_come_back_with_it(redis: RedisServer) -> None:
    engines = [ScriptedEngine(LONG) for _ in range(4)]
    async with gateways(redis, 2, engines) as rigs, AsyncExitStack() as stack:
        for rig in rigs:
            await begin(stack, rig)  # what the others hear of
        for engine in engines:
            engine.behaviour = QUICK
        for rig in rigs:
            await rig.wait(lambda rig=rig: _hears(rig))  # type: ignore[misc]
        statuses: Counter[int] = Counter()
        is_over = asyncio.Event()

        async def hammer(rig: Rig) -> None:
            async with connected(rig.port) as client:
                while not is_over.is_set():
                    statuses[(await client.ask(chat())).status] += 1
                    await asyncio.sleep(0.005)

        async with asyncio.TaskGroup() as group:
            for rig in rigs * 2:
                group.create_task(hammer(rig))
            redis.kill()
            for rig in rigs:
                await rig.wait(lambda rig=rig: not _hears(rig))  # type: ignore[misc]
            assert metrics.reports_away.cell(())[0] == 1
            while_away = statuses.copy()
            await asyncio.sleep(TOLD_S)
            assert statuses[200] > while_away[200], "it serves on"
            await asyncio.to_thread(redis.start)
            at_s = time.monotonic()
            for rig in rigs:
                await rig.wait(lambda rig=rig: _hears(rig))  # type: ignore[misc]
            back_s = time.monotonic() - at_s
            is_over.set()
        assert set(statuses) == {200}
        print(f"together again {back_s:.2f} s after Redis was back")


def _hears(rig: Rig) -> bool:
    states = rig.server._upstream.router._states.values()
    return any(state.has_heard for state in states)


async def test_the_leading_gateway_is_killed_and_costs_a_retry_elsewhere_the_books_are_exact_and_another_leads(
    tmp_path: Path, redis: RedisServer
) -> None:
    with ExitStack() as stack:
        engine = stack.enter_context(in_thread(ScriptedEngine(behaviours.stream(20, delay_s=0.02))))
        url = stack.enter_context(database())
        config = "\n".join(
            (
                f'[stores]\nurl = "{url}"\nfleet_url = "{redis.url}"',
                f'[pools.pool]\nmodel = "{MODEL}"\nurls = ["{engine.url}"]',
            )
        )
        folders = [tmp_path / name for name in ("first", "second")]
        for folder in folders:
            folder.mkdir()
        first, second = (stack.enter_context(ServeProcess(folder, config=config)) for folder in folders)
        for serve in (first, second):
            serve.wait_ready()
        async with asyncio.timeout(DEADLINE_S):
            while _leads(first) is _leads(second):
                await asyncio.sleep(0.1)
        if _leads(second):
            first, second, folders = second, first, folders[::-1]
        ports = [int(serve.url.rpartition(":")[2]) for serve in (first, second)]
        names = [f"{socket.gethostname()}:{port}" for port in ports]
        async with asyncio.timeout(DEADLINE_S):
            # The follower says who leads, and its console has the other gateway.
            while _admin(second, "scaling")["leader"] != names[0] or not _admin(second, "now")["gateways"]:
                await asyncio.sleep(0.1)
        assert [one["name"] for one in _admin(second, "now")["gateways"]] == names[:1]
        streams = [asyncio.create_task(_streamed(ports)) for _ in range(6)]
        await asyncio.sleep(0.2)
        for pid in (first.process.pid, *first.children()):
            os.kill(pid, signal.SIGKILL)
        killed_at_s = time.monotonic()
        results = await asyncio.wait_for(asyncio.gather(*streams), DEADLINE_S)
        assert all(whole for whole, _ in results), "each was answered by the other gateway"
        broken = sum(tries - 1 for _, tries in results)
        assert broken > 0, "some were under way"
        async with asyncio.timeout(DEADLINE_S):
            while not _leads(second):
                await asyncio.sleep(0.1)
        print(f"another leads after {time.monotonic() - killed_at_s:.1f} s")
        assert _admin(second, "scaling")["leader"] == names[1]
        again = stack.enter_context(ServeProcess(folders[0], config=config))
        again.wait_ready()
        opened = await open_database(url, os.environ)
        try:
            async with asyncio.timeout(DEADLINE_S):
                while True:
                    page = await books_in(opened).requests(RequestQuery(limit=100))
                    killed = [one for one in page.records if one.reason == GATEWAY_KILLED]
                    whole = [one for one in page.records if one.reason != GATEWAY_KILLED]
                    if len(whole) == len(streams) and len(killed) >= broken:
                        break
                    await asyncio.sleep(0.1)
        finally:
            await opened.close()
        assert len(killed) == broken, "what the killed one had begun is in the books, once"
        assert all(one.completion_tokens == 20 for one in whole)
        assert all(one.completion_tokens < 20 for one in killed)


def _leads(serve: ServeProcess) -> bool:
    with urllib.request.urlopen(f"{serve.url}/metrics", timeout=5) as page:
        return "\nheterodyne_supervisor_leader 1" in page.read().decode()


def _admin(serve: ServeProcess, page: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{serve.admin_url}/admin/{page}", timeout=5) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


async def _streamed(ports: list[int]) -> tuple[bool, int]:
    """As a client does: asked of the first, and where that breaks of the next; whether it came whole, and the tries."""
    for tries, port in enumerate(ports, 1):
        try:
            async with connected(port) as client:
                answer = await client.ask(chat(stream=True, stream_options={"include_usage": True}))
        except (OSError, EOFError, ValueError, AssertionError):
            continue
        return answer.body.rstrip().endswith(b"[DONE]") and bool(json.loads(answer.events[-2])["usage"]), tries
    return False, len(ports)
