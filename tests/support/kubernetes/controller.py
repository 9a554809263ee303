"""What a cluster's controllers do of which a driver sees the results: pods as many as asked for, started and ended."""

import asyncio
import itertools
from contextlib import suppress
from datetime import UTC, datetime

from tests.support.kubernetes import objects
from tests.support.kubernetes.objects import LABELS, NAMESPACE
from tests.support.kubernetes.store import ApiFault, ClusterStore, Json, Key

COST = "controller.kubernetes.io/pod-deletion-cost"
POLL_S = 0.01


class Controllers:
    """Those of one Deployment, one StatefulSet and the Service of their pods; one node has room for everything."""

    def __init__(self, store: ClusterStore, workload: Key, *, start_s: float = 0.05, end_s: float = 0.02) -> None:
        self._store = store
        self._workload = workload
        self._start_s, self._end_s = start_s, end_s
        self._numbers = itertools.count()
        self._starting: dict[str, float] = {}
        self._ending: dict[str, float] = {}
        self.is_starting = True  # whether pods come to be ready

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            with suppress(ApiFault):  # somebody deleted it meanwhile
                await self._reconcile()
            await asyncio.sleep(POLL_S)

    async def kill(self, name: str) -> None:
        """A pod is gone without a word."""
        await self._store.delete(("", "pods", NAMESPACE, name))

    async def _reconcile(self) -> None:
        pods = self._store.list("", "pods", NAMESPACE, ",".join(f"{name}={value}" for name, value in LABELS.items()))
        staying = [one for one in pods if "deletionTimestamp" not in one["metadata"]]
        wanted = self._store.get(self._workload)["spec"]["replicas"]
        for _ in range(wanted - len(staying)):
            await self._create([one["metadata"]["name"] for one in pods])
        for one in self._going(staying)[: max(0, len(staying) - wanted)]:
            await self._end(one)
        await self._advance(pods)
        await self._write_slice()

    def _going(self, pods: list[Json]) -> list[Json]:
        """In the order they would go: of a StatefulSet the last first, else those not ready, then the cheapest."""
        if self._workload[1] != "deployments":
            return sorted(pods, key=lambda one: -int(one["metadata"]["name"].rpartition("-")[2]))
        return sorted(pods, key=lambda one: (_is_ready(one), _cost(one), -int(one["metadata"]["resourceVersion"])))

    async def _create(self, taken: list[str]) -> None:
        is_stateful = self._workload[1] != "deployments"
        number = next(one for one in itertools.count() if f"chat-{one}" not in taken) if is_stateful else None
        name = f"chat-{number if is_stateful else f'{next(self._numbers):x}pod'}"
        owner = {"kind": "StatefulSet" if is_stateful else "ReplicaSet", "name": "chat"}
        made = objects.pod(name, ip=f"10.0.1.{next(self._numbers) % 250 + 1}", node=None, ready=False)
        made["metadata"] |= {"ownerReferences": [owner], "creationTimestamp": datetime.now(UTC).isoformat()}
        await self._store.create(("", "pods", NAMESPACE, name), made)
        self._starting[name] = asyncio.get_running_loop().time() + self._start_s

    async def _end(self, pod: Json) -> None:
        name = pod["metadata"]["name"]
        self._ending[name] = asyncio.get_running_loop().time() + self._end_s
        change = {"metadata": {"deletionTimestamp": datetime.now(UTC).isoformat()}}
        await self._store.patch(("", "pods", NAMESPACE, name), change)

    async def _advance(self, pods: list[Json]) -> None:
        now_s = asyncio.get_running_loop().time()
        for one in pods:
            name = one["metadata"]["name"]
            key = ("", "pods", NAMESPACE, name)
            if name in self._ending:
                if now_s >= self._ending[name]:
                    del self._ending[name]
                    await self._store.delete(key)
            elif self.is_starting and not _is_ready(one) and now_s >= self._starting.get(name, 0.0):
                ready = {"type": "Ready", "status": "True", "lastTransitionTime": datetime.now(UTC).isoformat()}
                await self._store.patch(key, {"spec": {"nodeName": "gpu-1"}, "status": {"conditions": [ready]}})

    async def _write_slice(self) -> None:
        pods = self._store.list("", "pods", NAMESPACE, "")
        endpoints = [
            objects.endpoint(
                one["metadata"]["name"],
                one["status"]["podIP"],
                ready=_is_ready(one),
                terminating="deletionTimestamp" in one["metadata"],
            )
            for one in pods
        ]
        key = ("discovery.k8s.io", "endpointslices", NAMESPACE, "chat-x")
        if key not in self._store.objects:
            await self._store.create(key, objects.endpoint_slice("chat-x", *endpoints))
        elif self._store.get(key)["endpoints"] != endpoints:
            await self._store.patch(key, {"endpoints": endpoints})


def _is_ready(pod: Json) -> bool:
    return any(one["type"] == "Ready" and one["status"] == "True" for one in pod["status"]["conditions"])


def _cost(pod: Json) -> int:
    return int((pod["metadata"].get("annotations") or {}).get(COST, 0))
