"""Whether replicas are ready, over real servers and addresses where nobody is."""

import asyncio
import re
from itertools import pairwise

import pytest

from heterodyne.control.problems import ProblemKind
from heterodyne.domain.fleet import Health
from heterodyne.testing import behaviours
from heterodyne.testing.dropping_server import DroppingServer
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from tests.support.watches import Pages, hundredfold, replica, watching


@pytest.mark.parametrize("status", [200, 401, 403])
async def test_an_engine_that_answers_is_ready_even_if_it_wants_a_key(status: int) -> None:
    async with Pages(v1_models=(status, b"{}")) as engine, watching(replica(engine.port)) as watched:
        await watched.until_health(Health.READY)
        assert watched.published[0].version == 1
        assert watched.kinds() == {ProblemKind.MODELS_UNREAD}
        await watched.until(lambda: watched.probes["p-0"] >= 2)
        assert not watched.failed_probes


@pytest.mark.parametrize("status", [404, 500, 503])
async def test_an_engine_that_refuses_is_not_ready_and_nothing_is_published(status: int) -> None:
    async with Pages(v1_models=(status, b"{}")) as engine, watching(replica(engine.port)) as watched:
        await watched.until(lambda: len(engine.asked) >= 5)
        assert watched.published == []
        assert watched.seen().error == f"It answers {status} to /v1/models."
        assert not watched.probes
        assert watched.failed_probes["p-0"] >= 4


async def test_an_engine_that_comes_later_is_found_and_one_that_leaves_is_missed() -> None:
    engine = ScriptedEngine(behaviours.answer())
    await engine.open()
    await engine.close()
    async with watching(replica(engine.port)) as watched:
        await watched.until(lambda: watched.seen().error is not None)
        await engine.open()
        await watched.until_health(Health.READY)
        await engine.close()
        await watched.until_health(Health.DOWN)
        assert watched.kinds() == {ProblemKind.NOT_READY}
        await engine.open()
        await watched.until_health(Health.READY)
        assert watched.kinds() == set()
    await engine.close()


async def test_an_engine_that_flaps_is_followed_each_time() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine, watching(replica(engine.port)) as watched:
        for _ in range(5):
            engine.is_healthy = True
            await watched.until_health(Health.READY)
            engine.is_healthy = False
            await watched.until_health(Health.DOWN)
        versions = [snapshot.version for snapshot in watched.published]
        assert versions == sorted(set(versions))
        healths = [snapshot.replicas[0].health for snapshot in watched.published]
        assert all(one is not other for one, other in pairwise(healths)), "nothing told twice"


async def test_looks_do_not_pile_up_connections() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine, watching(replica(engine.port)) as watched:
        await watched.until(lambda: watched.probes["p-0"] >= 10)
        assert engine.connections_made == 1
        assert len(engine.connections) == 1
        engine.is_healthy = False
        await watched.until_health(Health.DOWN)
        await asyncio.sleep(0.1)
        assert len(engine.connections) <= 1


async def test_an_engine_that_drops_idle_connections_stays_ready() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine, watching(replica(engine.port)) as watched:
        await watched.until_health(Health.READY)
        for _ in range(20):
            for connection in tuple(engine.connections):
                connection.drop()
            await asyncio.sleep(0.01)
        assert watched.seen().health is Health.READY
        assert watched.seen().error is None
        assert engine.connections_made > 5


async def test_whoever_cannot_be_reached_is_named_with_the_reason() -> None:
    async with DroppingServer() as rude:
        fleet = (
            replica(1, 0),
            replica(80, 1, host="gpu-nine.invalid"),
            replica(rude.port, 2),
            replica(8000, 3, host="::1", base_path="/llm"),
        )
        async with watching(*fleet, clock=hundredfold) as watched:
            await watched.until(lambda: all(watched.kinds(index) for index in range(4)))
            words = [watched.seen(index).problems[0].text for index in range(4)]
    assert words[0].startswith("pools.p.urls[0]: http://127.0.0.1:1 is not ready: The engine does not accept")
    assert words[1].startswith("pools.p.urls[1]: http://gpu-nine.invalid:80 is not ready: ")
    assert re.search("[Nn]ame|No answer", words[1]), "resolvers differ in how long they think"
    assert words[2].startswith(f"pools.p.urls[2]: http://127.0.0.1:{rude.port} is not ready: The engine closed")
    assert words[3].startswith("pools.p.urls[3]: http://[::1]:8000/llm is not ready: ")


async def test_an_engine_that_never_answers_is_given_up_in_time() -> None:
    class Silent(ScriptedEngine):
        def answer_get(self, call: EngineCall) -> None:
            pass

    async with Silent(behaviours.answer()) as engine, watching(replica(engine.port)) as watched:
        await watched.until(lambda: watched.seen().error is not None)
        assert watched.seen().error == "No answer to /v1/models within 2 s."
        assert (watched.seen().probe_ms or 0) >= 1900
