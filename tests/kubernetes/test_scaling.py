"""What a cluster adds to the contract of drivers: conflicts, budgets, quotas, rights, and others who scale."""

import asyncio
import time
from collections.abc import Callable

import pytest

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import DriverRefused, DriverUnavailable, ScalerConflict
from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.fleet.kubernetes import driven_workload
from heterodyne.ports.fleet_driver import DrivenPool
from tests.support.kubernetes.driver import POOL, DrivenCluster, driven_cluster
from tests.support.kubernetes.objects import LABELS, NAMESPACE
from tests.support.kubernetes.store import Json

WAIT_S = 10.0


async def when(cluster: DrivenCluster, is_so: Callable[[DrivenPool], bool]) -> DrivenPool:
    async with deadline(WAIT_S):
        while True:
            try:
                (pool,) = await cluster.driver.look()
                if is_so(pool):
                    return pool
            except DriverUnavailable:
                pass
            await asyncio.sleep(0.02)


async def settled(cluster: DrivenCluster, count: int) -> list[ReplicaId]:
    """The ids of those that are ready, in the order that their platform has them."""
    pool = await when(
        cluster,
        lambda pool: len(pool.replicas) == count and all(one.stage is ReplicaStage.READY for one in pool.replicas),
    )
    return [one.id for one in pool.replicas]


def budget(**spec: object) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "chat", "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": LABELS}, **spec},
    }


async def put_budget(cluster: DrivenCluster, **spec: object) -> None:
    await cluster.server.store.create(("policy", "poddisruptionbudgets", NAMESPACE, "chat"), budget(**spec))


async def test_conflicts_are_read_anew_and_do_not_go_on_for_ever() -> None:
    async with driven_cluster() as cluster:
        await settled(cluster, 1)
        cluster.server.conflicts_left = 2
        await cluster.driver.scale(POOL, 2, seen=1)
        await settled(cluster, 2)
        cluster.server.conflicts_left = 100
        with pytest.raises(ScalerConflict, match="Deployment chat was changed 5 times meanwhile"):
            await cluster.driver.scale(POOL, 3, seen=2)
        cluster.server.conflicts_left = 0
        assert await settled(cluster, 2)


async def test_a_budget_that_would_be_broken_is_named_and_nothing_leaves() -> None:
    async with driven_cluster() as cluster:
        await settled(cluster, 1)
        await cluster.driver.scale(POOL, 3, seen=1)
        ids = await settled(cluster, 3)
        await put_budget(cluster, minAvailable=2)
        with pytest.raises(DriverRefused, match="PodDisruptionBudget llm/chat keeps 2 of 1 pods healthy, and 1 would"):
            await cluster.driver.scale(POOL, 1, seen=3, leaving=ids[:2])
        assert await settled(cluster, 3) == ids
        await cluster.driver.scale(POOL, 2, seen=3, leaving=ids[:1])
        assert await settled(cluster, 2) == ids[1:]


async def test_of_a_stateful_set_the_last_one_leaves() -> None:
    async with driven_cluster("statefulset") as cluster:
        await settled(cluster, 1)
        await cluster.driver.scale(POOL, 3, seen=1)
        first, second, _ = await settled(cluster, 3)
        await cluster.driver.scale(POOL, 2, seen=3)
        assert await settled(cluster, 2) == [first, second]


async def test_a_leader_worker_set_is_scaled_as_well() -> None:
    async with driven_cluster("leaderworkerset") as cluster:
        await settled(cluster, 1)
        await cluster.driver.scale(POOL, 2, seen=1)
        await settled(cluster, 2)


async def test_who_fights_over_the_count_is_named_and_left_alone() -> None:
    async with driven_cluster() as cluster:
        await settled(cluster, 1)
        for _ in range(3):
            await cluster.driver.scale(POOL, 2, seen=1)
            await when(cluster, lambda pool: pool.wanted == 2)
            await cluster.set_count(1, manager="kube-controller-manager")
            await when(cluster, lambda pool: pool.wanted == 1)
        with pytest.raises(ScalerConflict, match="kube-controller-manager, for a HorizontalPodAutoscaler changed the"):
            await cluster.driver.scale(POOL, 2, seen=1)
        (pool,) = await cluster.driver.look()
        assert pool.problem is not None
        assert "Keep one of the two" in pool.problem


async def test_who_changed_the_count_meanwhile_is_named() -> None:
    async with driven_cluster() as cluster:
        await settled(cluster, 1)
        await cluster.set_count(3, manager="kubectl")
        await when(cluster, lambda pool: pool.wanted == 3)
        with pytest.raises(ScalerConflict, match="Deployment chat: kubectl wants 3 by now, not 1"):
            await cluster.driver.scale(POOL, 2, seen=1)


async def test_a_quota_that_is_used_up_is_told_of_the_pool() -> None:
    async with driven_cluster() as cluster:
        await settled(cluster, 1)
        failed = {
            "type": "ReplicaFailure",
            "status": "True",
            "reason": "FailedCreate",
            "message": "exceeded quota: gpu",
        }
        await cluster.server.store.patch(cluster.workload, {"status": {"conditions": [failed]}})
        pool = await when(cluster, lambda pool: pool.problem is not None)
        assert pool.problem == "Deployment chat: FailedCreate: exceeded quota: gpu"


async def test_why_a_pod_does_not_come_is_told_of_it() -> None:
    async with driven_cluster() as cluster:
        await settled(cluster, 1)
        cluster.controllers.is_starting = False
        await cluster.driver.scale(POOL, 2, seen=1)
        pool = await when(cluster, lambda pool: len(pool.replicas) == 2)
        (coming,) = [one for one in pool.replicas if one.stage is ReplicaStage.PENDING]
        assert (coming.ready_at_s, coming.replica) == (None, None)
        waits = {"name": "engine", "image": "nope", "state": {"waiting": {"reason": "ErrImagePull", "message": "404"}}}
        change = {"spec": {"nodeName": "gpu-1"}, "status": {"containerStatuses": [waits]}}
        await cluster.server.store.patch(("", "pods", NAMESPACE, str(coming.id)), change)
        pool = await when(cluster, lambda pool: any(one.problem for one in pool.replicas))
        (told,) = [one for one in pool.replicas if one.problem]
        assert (told.stage, told.problem) == (
            ReplicaStage.WARMING,
            f"Pod llm/{coming.id}: container engine (nope): ErrImagePull: 404",
        )


async def test_a_pod_that_the_cluster_is_about_to_take_says_so() -> None:
    async with driven_cluster() as cluster:
        (id,) = await settled(cluster, 1)
        key = ("", "pods", NAMESPACE, str(id))
        conditions = cluster.server.store.get(key)["status"]["conditions"]
        taken = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": "2026-11-19T12:00:00Z"}
        await cluster.server.store.patch(key, {"status": {"conditions": [*conditions, taken]}})
        pool = await when(cluster, lambda pool: pool.replicas[0].taken_at_s is not None)
        assert pool.replicas[0].taken_at_s == 1795089600.0


async def test_an_api_that_is_away_is_said_at_once_by_a_call_and_after_a_while_by_a_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with driven_cluster() as cluster:
        await settled(cluster, 1)
        await cluster.server.stop()
        with pytest.raises(DriverUnavailable, match=r"pools.chat: get /apis/apps/v1/.*/deployments/chat/scale"):
            await cluster.driver.scale(POOL, 2, seen=1)
        (pool,) = await cluster.driver.look()
        assert len(pool.replicas) == 1
        monkeypatch.setattr(driven_workload, "SILENT_S", 0.0)
        with pytest.raises(DriverUnavailable, match="Deployment chat: "):
            await cluster.driver.look()


async def test_a_right_that_is_missing_is_named() -> None:
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
    async with driven_cluster(token="reader") as cluster:
        cluster.server.rights.grant("reader", "", rules)
        await settled(cluster, 1)
        with pytest.raises(DriverRefused, match=r"patch .*deployments/chat/scale: 403 .*cannot patch"):
            await cluster.driver.scale(POOL, 2, seen=1)


async def test_a_workload_that_is_not_there_is_named() -> None:
    async with driven_cluster() as cluster:
        await cluster.server.store.delete(cluster.workload)
        async with deadline(WAIT_S):
            while True:
                try:
                    await cluster.driver.look()
                except DriverUnavailable as error:
                    if "there is no Deployment chat" in str(error):
                        break
                await asyncio.sleep(0.02)


async def test_times_of_pods_that_were_there_before_are_their_own() -> None:
    async with driven_cluster() as cluster:
        await settled(cluster, 1)
        (pool,) = await cluster.driver.look()
        (one,) = pool.replicas
        assert one.ready_at_s is not None
        assert 0 <= one.ready_at_s - one.asked_at_s < 5
        assert abs(time.time() - one.ready_at_s) < 5
