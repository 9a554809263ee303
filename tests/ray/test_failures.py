"""A Ray cluster loses actors, nodes and its head; gateways come and go."""

import asyncio
import os
import secrets
import signal
import time

import pytest

from heterodyne.domain.errors import DriverUnavailable
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.ports.fleet_driver import DrivenPool, DrivenReplica
from tests.support.driver_bench import DriverBench
from tests.support.ray_cluster import (
    REPLICA_TIMEOUT_S,
    RayCluster,
    answers,
    engine_pid,
    parent_of,
    ray_bench,
    ray_cluster,
    ray_pool,
)

pytestmark = pytest.mark.timeout(600)


def is_ready_other_than(old: str, pool: DrivenPool) -> bool:
    return [one.id for one in pool.replicas if one.stage is ReplicaStage.READY] not in ([], [old])


async def only(bench: DriverBench) -> DrivenReplica:
    [one] = (await bench.settled(1)).replicas
    return one


def port_of(one: DrivenReplica) -> int:
    assert one.replica is not None
    return one.replica.port


async def said_once_away(bench: DriverBench, within_s: float = REPLICA_TIMEOUT_S) -> str:
    """What the driver says instead of an answer; empty where it answers all the time."""
    end_s = time.monotonic() + within_s
    while True:
        try:
            await bench.driver.look()
        except DriverUnavailable as error:
            return str(error)
        if time.monotonic() >= end_s:
            return ""
        await asyncio.sleep(0.1)


async def test_another_actor_takes_the_place_of_one_that_died_under_another_name(cluster: RayCluster) -> None:
    async with ray_bench(cluster) as bench:
        old = await only(bench)
        engine = engine_pid(port_of(old))
        os.kill(parent_of(engine), signal.SIGKILL)
        pool = await bench.when(lambda pool: is_ready_other_than(old.id, pool))
        assert [one.id for one in pool.replicas] != [old.id]
        assert not answers(port_of(old)), "an engine outlived its actor"


async def test_replicas_outlive_the_gateway_and_the_next_one_finds_them(cluster: RayCluster) -> None:
    namespace = f"test-{secrets.token_hex(4)}"
    async with ray_bench(cluster, namespace=namespace, ends_empty=False) as bench:
        await bench.driver.scale(bench.pool, 2, seen=1)
        before = {one.id for one in (await bench.settled(2)).replicas}
    async with ray_bench(cluster, namespace=namespace, count=2) as bench:
        pool = await bench.settled(2)
        assert ({one.id for one in pool.replicas}, pool.wanted) == (before, 2)


async def test_a_keeper_that_died_finds_its_replicas_and_learns_the_count(cluster: RayCluster) -> None:
    async with ray_bench(cluster) as bench:
        await bench.driver.scale(bench.pool, 2, seen=1)
        before = {one.id for one in (await bench.settled(2)).replicas}
        for pid in cluster.processes("ray::PoolKeeper"):
            os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(2.0)
        pool = await bench.settled(2)
        assert ({one.id for one in pool.replicas}, pool.wanted) == (before, 2)


async def test_a_replica_without_a_fitting_node_waits_with_the_reason_and_comes_with_the_node(
    cluster: RayCluster,
) -> None:
    pool = ray_pool(ray_resources={"slot": 1.0}, ray_labels={"team": "chat"})
    async with ray_bench(cluster, pool, count=None) as bench:
        waiting = await bench.when(lambda pool: bool(pool.replicas))
        assert waiting.replicas[0].stage is ReplicaStage.PENDING
        assert 'no node has the label team="chat"' in str(waiting.replicas[0].problem)
        node = cluster.start_node({"slot": 4.0}, {"team": "chat"})
        one = await only(bench)
        cluster.kill(node)
        lost = await bench.when(lambda pool: [each.stage for each in pool.replicas] == [ReplicaStage.PENDING])
        assert lost.replicas[0].id != one.id
        node = cluster.start_node({"slot": 4.0}, {"team": "chat"})
        assert (await only(bench)).id == lost.replicas[0].id


async def test_the_head_is_away_and_comes_anew() -> None:
    """Nothing is known then, which is said; with the head's memory gone the pool begins again, at its old count."""
    with ray_cluster() as cluster:
        async with ray_bench(cluster) as bench:
            await bench.driver.scale(bench.pool, 2, seen=1)
            await bench.settled(2)
            cluster.close()
            assert cluster.address in await said_once_away(bench)
            with pytest.raises(DriverUnavailable):
                await bench.driver.scale(bench.pool, 3, seen=2)
            cluster.start_head()
            async with asyncio.timeout(2 * REPLICA_TIMEOUT_S):
                while await said_once_away(bench, within_s=0.0):
                    await asyncio.sleep(0.1)
            assert (await bench.settled(2)).wanted == 2
