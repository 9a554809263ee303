"""Loading and unloading at emulated engines, without a gateway."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec import structs

from heterodyne.control.adapter_loader import AdapterLoader
from heterodyne.domain.errors import AdapterUnavailable, EngineError, EngineUnavailable
from heterodyne.domain.fleet import FleetSnapshot, Replica
from heterodyne.emulator.server import EmulatorServer
from heterodyne.engines.catalogue import ENGINES
from heterodyne.ports.adapters import AdapterUse
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.wire.connection_pool import ConnectionPool
from tests.support.emulators import order
from tests.support.watches import replica

SOURCES = {"law": "/law", "code": "/code"}


@asynccontextmanager
async def keeping(load_timeout_s: float = 5.0, room_timeout_s: float = 0.1) -> AsyncIterator[AdapterLoader]:
    pool = ConnectionPool(asyncio.get_running_loop(), idle_max=0)
    adapter_loader = AdapterLoader(
        ENGINES, pool, clock=time.monotonic, load_timeout_s=load_timeout_s, room_timeout_s=room_timeout_s
    )
    task = asyncio.create_task(adapter_loader.run())
    await asyncio.sleep(0)
    try:
        yield adapter_loader
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert not [one for one in asyncio.all_tasks() if one.get_name().startswith("adapter ")]
        assert pool.snapshot() == {}


async def ready(use: AdapterUse) -> EngineError | None:
    told: asyncio.Future[EngineError | None] = asyncio.get_running_loop().create_future()
    use.when_ready(told.set_result)
    return await asyncio.wait_for(told, 30)


def target(port: int, **changes: object) -> Replica:
    return replica(port, model="llama-3.1-8b", **{"engine": "vllm", "adapters": SOURCES, "adapters_max": 1, **changes})


async def test_a_restart_is_forgotten_and_the_next_use_loads_again() -> None:
    async with EmulatorServer(order()) as engine, keeping() as adapter_loader:
        one = target(engine.port)
        use = adapter_loader.use(one, "law")
        assert await ready(use) is None
        use.end()
        await engine.close()
        await engine.open()
        adapter_loader.forget(one.id)
        assert adapter_loader.snapshot() == {one.id: ()}
        assert await ready(adapter_loader.use(one, "law")) is None
        assert list(engine.engine.adapters) == ["law"]


async def test_what_another_keeper_loaded_counts_against_the_limit() -> None:
    async with EmulatorServer(order()) as engine, keeping() as first, keeping() as second:
        one = target(engine.port)
        use = first.use(one, "law")
        assert await ready(use) is None
        use.end()
        assert await ready(second.use(one, "code")) is None
        assert list(engine.engine.adapters) == ["code"]


async def test_when_every_place_is_in_use_it_waits_a_while_and_says_so() -> None:
    async with EmulatorServer(order()) as engine, keeping() as adapter_loader:
        one = target(engine.port)
        assert await ready(adapter_loader.use(one, "law")) is None
        error = await ready(adapter_loader.use(one, "code"))
        assert isinstance(error, AdapterUnavailable)
        assert (error.retry_after_s, list(engine.engine.adapters)) == (1, ["law"])


async def test_another_source_is_loaded_anew_once_nobody_uses_the_old_one() -> None:
    async with EmulatorServer(order()) as engine, keeping() as adapter_loader:
        one = target(engine.port)
        adapter_loader.publish(FleetSnapshot.of(1, (one,)))
        running = adapter_loader.use(one, "law")
        assert await ready(running) is None
        moved = structs.replace(one, adapters={"law": "/law-2"})
        adapter_loader.publish(FleetSnapshot.of(2, (moved,)))
        second = adapter_loader.use(moved, "law")
        assert await ready(second) is None
        assert [adapter.path for adapter in engine.engine.adapters.loaded] == ["/law"]
        running.end()
        second.end()
        assert await ready(adapter_loader.use(moved, "law")) is None
        assert [adapter.path for adapter in engine.engine.adapters.loaded] == ["/law-2"]


async def test_a_load_has_a_timeout() -> None:
    async def says_nothing(call: EngineCall) -> None:
        """Not a word."""

    async with ScriptedEngine(says_nothing) as engine, keeping(load_timeout_s=0.05) as adapter_loader:
        error = await ready(adapter_loader.use(target(engine.port), "law"))
        assert isinstance(error, AdapterUnavailable)
        assert "did not load the adapter 'law' within 0.05 s" in str(error)


async def test_an_engine_that_is_not_there_is_another_kind_of_trouble() -> None:
    async with keeping() as adapter_loader:
        assert isinstance(await ready(adapter_loader.use(target(1), "law")), EngineUnavailable)


async def test_a_keeper_that_does_not_run_refuses() -> None:
    pool = ConnectionPool(asyncio.get_running_loop(), idle_max=0)
    adapter_loader = AdapterLoader(ENGINES, pool, clock=time.monotonic)
    assert isinstance(await ready(adapter_loader.use(target(1), "law")), AdapterUnavailable)


@pytest.mark.parametrize("engine", ["tgi", "lmdeploy"])
async def test_an_engine_that_loads_nothing_while_it_runs_is_asked_as_it_is(engine: str) -> None:
    async with keeping() as adapter_loader:
        assert await ready(adapter_loader.use(target(1, engine=engine), "law")) is None
