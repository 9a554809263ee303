"""What the probe makes of an engine's answers; the engine is scripted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from heterodyne.control.probe import ReadinessProbe
from heterodyne.domain.fleet import FleetSnapshot, Health, PoolName, Replica, ReplicaId
from heterodyne.engines.catalogue import DIALECTS
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.wire.connection_pool import ConnectionPool


class AnswersWith(ScriptedEngine):
    """Gives one status to every GET."""

    def __init__(self, status: int) -> None:
        super().__init__(behaviours.answer())
        self._status = status

    def answer_get(self, call: EngineCall) -> None:
        call.whole(self._status, {})


@asynccontextmanager
async def probed(engine: ScriptedEngine) -> AsyncIterator[list[FleetSnapshot]]:
    """The snapshots that are published of one engine."""
    published: list[FleetSnapshot] = []
    await engine.open()
    replica = Replica(
        id=ReplicaId("p-0"), pool=PoolName("p"), model="m", engine="openai", host="127.0.0.1", port=engine.port
    )
    pool = ConnectionPool(asyncio.get_running_loop())
    probe = ReadinessProbe(DIALECTS, pool, FleetSnapshot.of(0, (replica,)), published.append)
    task = asyncio.create_task(probe.run())
    try:
        yield published
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await pool.close()
        await engine.close()


@pytest.mark.parametrize("status", [200, 401, 403])
async def test_an_engine_that_answers_is_ready_even_if_it_wants_a_key(status: int) -> None:
    async with probed(AnswersWith(status)) as published, asyncio.timeout(2):
        while not published:
            await asyncio.sleep(0.005)
        assert published[0].version == 1
        assert published[0].by_model["m"][0].health is Health.READY


@pytest.mark.parametrize("status", [404, 500, 503])
async def test_an_engine_that_refuses_is_not_ready(status: int) -> None:
    engine = AnswersWith(status)
    async with probed(engine) as published:
        await asyncio.sleep(0.3)
        assert published == []
        assert engine.connections_made >= 1


async def test_an_engine_that_comes_later_is_found() -> None:
    engine = ScriptedEngine(behaviours.answer())
    async with probed(engine) as published:
        await engine.close()
        published.clear()
        await engine.open()
        async with asyncio.timeout(3):
            while not published:
                await asyncio.sleep(0.02)
        assert published[-1].replicas[0].health is Health.READY
