"""The driver of a Ray cluster, over a stand-in for the process that speaks with one."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import pytest

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import DriverUnavailable, ScalerConflict
from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.fleet.command_pool import CommandPool
from heterodyne.fleet.ray import driver as ray_driver
from heterodyne.fleet.ray import ray_process
from heterodyne.fleet.ray.driver import PlacedRayPool, RayDriver
from heterodyne.fleet.ray.messages import RayOrder
from heterodyne.fleet.ray.ray_process import RayProcess
from heterodyne.fleet.settings import PoolSettings
from heterodyne.ports.fleet_driver import DrivenPool
from tests.support.driver_bench import replica_of

WAIT_S = 60.0
CHAT = PoolName("chat")


def pool(minimum: int = 0) -> PlacedRayPool:
    return PlacedRayPool(
        pool=CommandPool(
            replica=replica_of(CHAT, ReplicaId("chat-0")),
            words=("serve", "{port}"),
            health_path="/",
            first=1,
            minimum=minimum,
            maximum=4,
            start_timeout_s=20.0,
        ),
        settings=PoolSettings(model="m", command=("serve", "{port}"), runs_on="ray"),
    )


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_driver, "POLL_S", 0.05)


@asynccontextmanager
async def running(
    address: str = "ray://fine:1", pools: Mapping[PoolName, PlacedRayPool] | None = None
) -> AsyncIterator[RayDriver]:
    driver = RayDriver(
        RayOrder(address=address, namespace="n"),
        {CHAT: pool()} if pools is None else pools,
        connect=lambda order: RayProcess(order, "tests.support.ray_stand_in"),
    )
    task = asyncio.create_task(driver.run())
    try:
        yield driver
    finally:
        task.cancel()
        await asyncio.wait((task,))


async def seen(driver: RayDriver, wanted: int = 1) -> DrivenPool:
    async with deadline(WAIT_S):
        while True:
            with suppress(DriverUnavailable):
                for one in await driver.look():
                    if one.wanted == wanted:
                        return one
            await asyncio.sleep(0.02)


async def failure(driver: RayDriver) -> str:
    async with deadline(WAIT_S):
        while True:
            try:
                await driver.look()
            except DriverUnavailable as error:
                if "not asked yet" not in str(error):
                    return str(error)
            await asyncio.sleep(0.02)


async def test_counts_are_taken_and_old_ones_refused() -> None:
    async with running() as driver:
        await seen(driver)
        await driver.scale(CHAT, 3, seen=1)
        assert len((await seen(driver, 3)).replicas) == 3
        with pytest.raises(ScalerConflict, match="3 replicas are wanted by now, not 1"):
            await driver.scale(CHAT, 2, seen=1)


async def test_a_replica_without_a_node_is_named_with_its_actor() -> None:
    async with running() as driver:
        assert (await seen(driver)).replicas[0].problem == "actor replica/chat/r0: the cluster has no node"


async def test_a_pool_that_keeps_its_replicas_has_them_all() -> None:
    async with running(pools={CHAT: pool(minimum=2)}) as driver:
        await seen(driver, 2)


async def test_a_pool_that_a_reload_takes_out_is_emptied() -> None:
    async with running() as driver:
        await seen(driver)
        driver.take(RayOrder(address="ray://fine:1", namespace="n"), {})
        assert await driver.look() == ()
        async with deadline(WAIT_S):
            while driver._seen:
                await asyncio.sleep(0.02)


async def test_a_cluster_that_refuses_is_named_in_rays_words() -> None:
    async with running("ray://refuses:1") as driver:
        assert await failure(driver) == "ray://refuses:1: Version mismatch: the cluster has Ray 2.50.0"


async def test_a_process_that_ends_is_named_and_begun_anew() -> None:
    async with running("ray://dies:1") as driver:
        assert await failure(driver) == "ray://dies:1: the process that speaks with it has ended"
        with pytest.raises(DriverUnavailable, match="has ended"):
            await driver.scale(CHAT, 2, seen=1)


async def test_a_cluster_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_process, "CALL_TIMEOUT_S", 0.2)
    monkeypatch.setattr(ray_process, "END_TIMEOUT_S", 0.2)
    async with running("ray://silent:1") as driver:
        assert await failure(driver) == "ray://silent:1: no answer in time"


async def test_a_reload_may_name_another_cluster() -> None:
    async with running("ray://refuses:1") as driver:
        await failure(driver)
        driver.take(RayOrder(address="ray://fine:1", namespace="n"), {CHAT: pool()})
        await seen(driver)


async def test_without_pools_no_cluster_is_asked() -> None:
    async with running("ray://refuses:1", {}) as driver:
        await asyncio.sleep(0.2)
        assert await driver.look() == ()
