"""The cluster's driver over the stand-in, with controllers that make of counts what a cluster would."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.fleet.kubernetes.driven_workload import ScaledPool
from heterodyne.fleet.kubernetes.driver import KubernetesDriver
from heterodyne.fleet.kubernetes.pool_discovery import FoundReplica
from heterodyne.fleet.settings import PoolSettings
from tests.support.kubernetes import objects
from tests.support.kubernetes.controller import Controllers
from tests.support.kubernetes.followed import api_of
from tests.support.kubernetes.objects import NAMESPACE
from tests.support.kubernetes.server import ADMIN, KubernetesServer, kubernetes_server

POOL = PoolName("chat")
MAXIMUM = 4
PLACES = {
    "deployment": ("apps", "deployments"),
    "statefulset": ("apps", "statefulsets"),
    "leaderworkerset": ("leaderworkerset.x-k8s.io", "leaderworkersets"),
}


class DrivenCluster(Struct, frozen=True, kw_only=True, eq=False):
    """All there is."""

    server: KubernetesServer
    controllers: Controllers
    driver: KubernetesDriver
    workload: tuple[str, str, str, str]

    async def set_count(self, count: int, manager: str = "kubectl") -> None:
        """Somebody else's."""
        held = self.server.store.get(self.workload)
        scaled = {
            "manager": manager,
            "subresource": "scale",
            "time": "2999-01-01T00:00:00Z",
            "fieldsV1": {"f:spec": {"f:replicas": {}}},
        }
        change = {"metadata": {**held["metadata"], "managedFields": [scaled]}, "spec": {"replicas": count}}
        change["metadata"].pop("resourceVersion")
        await self.server.store.patch(self.workload, change)


@asynccontextmanager
async def driven_cluster(kind: str = "deployment", *, token: str = ADMIN) -> AsyncIterator[DrivenCluster]:
    """A workload of one replica, followed; rights of other tokens are for who opens it to grant."""
    async with kubernetes_server() as server:
        workload = (*PLACES[kind], NAMESPACE, "chat")
        await server.store.create(workload, objects.deployment("chat", replicas=1))
        await server.store.create(("", "services", NAMESPACE, "chat"), objects.service())
        await server.store.create(("", "nodes", "", "gpu-1"), objects.node("gpu-1"))
        controllers = Controllers(server.store, workload)
        settings = PoolSettings(
            model="m", discover="kubernetes", kubernetes_service="chat", kubernetes_workload=f"{kind}/chat"
        )
        driver = KubernetesDriver(
            api_of(server, token), [ScaledPool(pool=POOL, settings=settings, maximum=MAXIMUM)], described
        )
        tasks = [asyncio.create_task(controllers.run()), asyncio.create_task(driver.run())]
        try:
            yield DrivenCluster(server=server, controllers=controllers, driver=driver, workload=workload)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


def described(pool: PoolName, found: Sequence[FoundReplica]) -> dict[ReplicaId, Replica]:
    ends = [one.endpoint for one in found]
    return {
        ReplicaId(one.id): Replica(
            id=ReplicaId(one.id), pool=pool, model="m", engine="vllm", host=one.host, port=one.port
        )
        for one in ends
    }
