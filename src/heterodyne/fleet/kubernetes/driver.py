"""The fleet driver of a cluster: pools whose Deployment, StatefulSet or LeaderWorkerSet the autoscaler may scale."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from heterodyne.domain.errors import DriverUnavailable
from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.domain.nearest import unknown_name
from heterodyne.fleet.kubernetes.api import KubernetesApi
from heterodyne.fleet.kubernetes.driven_workload import Describe, DrivenWorkload, ScaledPool
from heterodyne.fleet.kubernetes.pool_discovery import DiscoveredPool
from heterodyne.ports.fleet_driver import DrivenPool
from heterodyne.telemetry.loops import keep_running


class KubernetesDriver:
    """One per supervisor."""

    name = "kubernetes"

    def __init__(
        self,
        api: KubernetesApi,
        pools: Sequence[ScaledPool],
        describe: Describe,
        *,
        on_found: Callable[[PoolName, DiscoveredPool], None] = lambda _, __: None,
    ) -> None:
        """`describe` says how gateways reach what a pool's discovery has found; `on_found` is told all of that."""
        self._api = api
        self._describe = describe
        self._on_found = on_found
        self._workloads: dict[PoolName, DrivenWorkload] = {}
        self._tasks: dict[PoolName, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None  # None: it does not run
        self.take(pools)

    async def run(self) -> None:
        """Follow every workload until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                self._begin()
                await asyncio.Event().wait()
        finally:
            self._group = None
            self._tasks.clear()
            await self._api.close()

    def take(self, pools: Sequence[ScaledPool]) -> None:
        """Other settings: workloads are followed anew where theirs are others."""
        wanted = {one.pool: one for one in pools}
        for name in [name for name, one in self._workloads.items() if wanted.get(name) != one.scaled]:
            self._workloads.pop(name).forget()
            if (task := self._tasks.pop(name, None)) is not None:
                task.cancel()
        for name, scaled in wanted.items():
            if name not in self._workloads:
                self._workloads[name] = DrivenWorkload(self._api, scaled, self._describe, on_found=self._on_found)
        self._begin()

    async def look(self) -> tuple[DrivenPool, ...]:
        """Every pool, from what was told last; raises `DriverUnavailable` where one is not known any more.

        One that never was, as its workload is not there, keeps nobody from looking at the others.
        """
        known: list[DrivenPool] = []
        unknown: list[DriverUnavailable] = []
        for one in self._workloads.values():
            try:
                known.append(one.look())
            except DriverUnavailable as error:
                unknown.append(error)
                if one.was_known:
                    raise
        if unknown and not known:
            raise unknown[0]
        return tuple(known)

    async def scale(self, pool: PoolName, count: int, *, seen: int, leaving: Sequence[ReplicaId] = ()) -> None:
        """Set the count of the pool's workload."""
        workload = self._workloads.get(pool)
        if workload is None:
            raise unknown_name("pool", pool, self._workloads)
        await workload.scale(count, seen=seen, leaving=leaving)

    def told(self, pool: PoolName) -> int:
        """What the scaler of a pool that is not ours to scale is told; raises LookupError before that is known."""
        workload = self._workloads.get(pool)
        if workload is None or workload.scaled.settings.kubernetes_scaler == "heterodyne":
            told = [
                name for name, one in self._workloads.items() if one.scaled.settings.kubernetes_scaler != "heterodyne"
            ]
            raise unknown_name("pool that another scales", pool, told)
        if workload.told is None:
            raise LookupError(f"pools.{pool}: its workload was not read yet")
        return workload.told

    def take_told(self, counts: Mapping[PoolName, int]) -> None:
        """What another gateway wants, which acts for all: scalers may ask any of them."""
        for pool, count in counts.items():
            workload = self._workloads.get(pool)
            if workload is not None and workload.scaled.settings.kubernetes_scaler != "heterodyne":
                workload.take_told(count)

    def _begin(self) -> None:
        if self._group is None:
            return
        for name, workload in self._workloads.items():
            if name not in self._tasks:
                run = keep_running(f"workload {name}", workload.run)
                self._tasks[name] = self._group.create_task(run, name=f"workload {name}")
