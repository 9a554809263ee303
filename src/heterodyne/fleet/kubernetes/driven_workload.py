"""One pool's Deployment, StatefulSet or LeaderWorkerSet: followed, and scaled through its scale subresource."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import DriverRefused, DriverUnavailable, InvalidSpec, ScalerConflict
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.fleet.kubernetes.api import Choice, KubernetesApi
from heterodyne.fleet.kubernetes.disruption import against_shrinking
from heterodyne.fleet.kubernetes.driven_pods import DrivenPods
from heterodyne.fleet.kubernetes.endpoints import life_id
from heterodyne.fleet.kubernetes.errors import ApiAway, ApiConflict, ApiError, ApiMissing, ApiRefused
from heterodyne.fleet.kubernetes.kind import BUDGETS, PODS, WORKLOADS
from heterodyne.fleet.kubernetes.objects import ClusterObject, DisruptionBudget, ScaledWorkload, WorkloadScale
from heterodyne.fleet.kubernetes.pool_discovery import DiscoveredPool, FoundReplica, PoolDiscovery
from heterodyne.fleet.kubernetes.reflector import PAUSE_FIRST_S, PAUSE_MAX_S, Reflector
from heterodyne.fleet.kubernetes.rivals import Rivalry, last_scaler
from heterodyne.fleet.kubernetes_settings import KubernetesPoolSettings
from heterodyne.ports.fleet_driver import DrivenPool
from heterodyne.telemetry import log, metrics

COST = "controller.kubernetes.io/pod-deletion-cost"  # of a Deployment's pods the cheapest go first
LEAVES_FIRST = "-1000"
TRIES_MAX = 5  # of an update that finds that somebody else was there before
TRY_PAUSE_S = 0.1
SILENT_S = 180.0  # what was not heard for longer is not known
KINDS = {"deployment": "Deployment", "statefulset": "StatefulSet", "leaderworkerset": "LeaderWorkerSet"}

_log = log.get("fleet")

Describe = Callable[[PoolName, Sequence[FoundReplica]], Mapping[ReplicaId, Replica]]


class ScaledPool(Struct, frozen=True, kw_only=True):
    """One pool that the autoscaler may change."""

    pool: PoolName
    settings: KubernetesPoolSettings  # with a workload
    maximum: int
    resync_s: float = 300.0


class DrivenWorkload:
    """One per pool; belongs to one event loop."""

    def __init__(
        self,
        api: KubernetesApi,
        scaled: ScaledPool,
        describe: Describe,
        *,
        on_found: Callable[[PoolName, DiscoveredPool], None],
    ) -> None:
        assert scaled.settings.kubernetes_workload is not None
        kind, _, self._name = scaled.settings.kubernetes_workload.partition("/")
        self.scaled = scaled
        self._api, self._describe, self._on_found = api, describe, on_found
        self._kind = WORKLOADS[kind]
        self._object = f"{KINDS[kind]} {self._name}"
        self._workload: Reflector[ScaledWorkload] | None = None
        self._found = DiscoveredPool()
        self._pods = DrivenPods(self._name)
        self._rivalry = Rivalry(self._object)
        self.told: int | None = None  # what another scaler is told; None: there is none, or nothing to tell yet
        self._asked: tuple[int, str] | None = None  # a count, and the version that it was taken as
        self.was_known = False  # whether it was ever seen
        self._error: ApiError | None = None  # before there is anything to follow

    async def run(self) -> None:
        """Until cancelled."""
        discovery = PoolDiscovery(self._api, self.scaled.settings, resync_s=self.scaled.resync_s, on_found=self._take)
        async with asyncio.TaskGroup() as group:
            group.create_task(discovery.run(), name="discovery")
            self._workload = Reflector(
                self._api,
                self._kind,
                await self._namespace(),
                Choice(fields=f"metadata.name={self._name}"),
                resync_s=self.scaled.resync_s,
                on_change=self._note_count,
            )
            await self._workload.run()

    def look(self) -> DrivenPool:
        """As it is now; raises `DriverUnavailable` where that is not known."""
        workload = self._try_known()
        if workload is None and not self.was_known:
            raise DriverUnavailable(f"pools.{self.scaled.pool}: {self._absence}")
        self.was_known = True
        # One that is deleted wants nothing, and its pods go with it.
        wanted = 0 if workload is None else self._wanted(workload)
        return DrivenPool(
            pool=self.scaled.pool,
            wanted=wanted,
            replicas=self._pods.replicas(wanted, time.time()),
            maximum=self.scaled.maximum,
            problem=self._absence if workload is None else self._problem(workload),
        )

    async def scale(self, count: int, *, seen: int, leaving: Sequence[ReplicaId]) -> None:
        """As the port has it."""
        place = f"pools.{self.scaled.pool}"
        if count < 0:
            raise InvalidSpec(f"{place}: {count} replicas; give 0 or more")
        if count > self.scaled.maximum:
            raise DriverRefused(f"{place}: {count} replicas, and {self.scaled.maximum} is the most its settings allow")
        known = self._try_known()
        if known is None:
            raise DriverRefused(f"{place}: {self._absence}")
        try:
            if self.scaled.settings.kubernetes_scaler == "heterodyne":
                await self._set_count(known, count, seen=seen, leaving=frozenset(leaving))
            else:
                await self._tell_count(known, count, seen=seen, leaving=frozenset(leaving))
        except ApiAway as error:
            raise DriverUnavailable(f"{place}: {error}") from error
        except ApiError as error:
            raise DriverRefused(f"{place}: {error}") from error

    async def _set_count(self, known: ScaledWorkload, count: int, *, seen: int, leaving: frozenset[ReplicaId]) -> None:
        """By its scale, with the version that was read: who was there before is seen, and named."""
        place, namespace = f"pools.{self.scaled.pool}", known.metadata.namespace
        if (fight := self._rivalry.complaint(time.time())) is not None:
            raise ScalerConflict(f"{place}: {fight}")
        path = f"{self._kind.path(namespace, self._name)}/scale"
        for _ in range(TRIES_MAX):
            now = await self._api.get_at(path, WorkloadScale)
            if now.spec.replicas != seen:
                whom = last_scaler(known) or "somebody else"
                raise ScalerConflict(f"{place}: {self._object}: {whom} wants {now.spec.replicas} by now, not {seen}")
            if now.spec.replicas == count:
                return
            if count < now.spec.replicas:
                await self._prepare_shrinking(namespace, count, leaving)
            try:
                await self._set(path, now, count)
            except ApiConflict:
                await asyncio.sleep(TRY_PAUSE_S)  # its status may have changed alone
            else:
                return
        raise ScalerConflict(f"{place}: {self._object} was changed {TRIES_MAX} times meanwhile")

    async def _tell_count(self, known: ScaledWorkload, count: int, *, seen: int, leaving: frozenset[ReplicaId]) -> None:
        """For another scaler, which asks for it or reads it as a metric."""
        told = self._wanted(known)
        if told != seen:
            raise ScalerConflict(f"pools.{self.scaled.pool}: {self._object}: {told} are wanted by now, not {seen}")
        if count < told:
            await self._prepare_shrinking(known.metadata.namespace, count, leaving)
        self._note_told(count)

    async def _prepare_shrinking(self, namespace: str, count: int, leaving: frozenset[ReplicaId]) -> None:
        """Disruption budgets hold, and those that were drained are the cheapest to delete."""
        pods = self._found.pods
        page = await self._api.list(BUDGETS, namespace)
        try:
            budgets = [msgspec.json.decode(one, type=DisruptionBudget) for one in page.objects]
        except msgspec.DecodeError as error:
            raise ApiRefused(f"list {BUDGETS.path(namespace)}: not as the API has it: {error}") from error
        refusal = against_shrinking(budgets, pods, count)
        if refusal is not None:
            raise DriverRefused(f"pools.{self.scaled.pool}: {refusal}")
        if self._kind is not WORKLOADS["deployment"]:
            return  # their pods leave from the highest number down, whatever they cost
        for pod in pods:
            cost = (pod.metadata.annotations or {}).get(COST)
            wanted = LEAVES_FIRST if life_id(pod) in leaving else None
            if wanted != cost and LEAVES_FIRST in (wanted, cost):
                await self._mark(PODS.path(namespace, pod.metadata.name), wanted)

    async def _mark(self, path: str, cost: str | None) -> None:
        try:
            await self._api.patch(path, {"metadata": {"annotations": {COST: cost}}}, ClusterObject)
        except ApiMissing:
            return  # it is gone already

    async def _set(self, path: str, now: WorkloadScale, count: int) -> None:
        change = {"metadata": {"resourceVersion": now.metadata.resource_version}, "spec": {"replicas": count}}
        taken = await self._api.patch(path, change, WorkloadScale)
        self._rivalry.ask(count)
        self._asked = count, taken.metadata.resource_version
        _log.info(
            "workload_scaled", pool=self.scaled.pool, workload=self._object, wanted=count, before=now.spec.replicas
        )

    def forget(self) -> None:
        """It is not looked at any more."""
        metrics.replicas_told.forget((self.scaled.pool,))

    def _wanted(self, workload: ScaledWorkload) -> int:
        if self.scaled.settings.kubernetes_scaler != "heterodyne":
            return workload.replicas if self.told is None else self.told
        return workload.replicas if self._asked is None else self._asked[0]

    @property
    def _absence(self) -> str:
        return f"there is no {self._object}"

    def _try_known(self) -> ScaledWorkload | None:
        """As it was seen last, None: it is not there; raises `DriverUnavailable` where that was too long ago."""
        reflector = self._workload
        if reflector is not None and is_heard(reflector.heard_at) and is_heard(self._found.heard_at):
            return reflector.objects[0] if reflector.objects else None
        errors = [None if reflector is None else reflector.error, self._error]
        said = [str(one) for one in errors if one is not None] + [one.text for one in self._found.problems]
        raise DriverUnavailable(f"pools.{self.scaled.pool}: {self._object}: {'; '.join(said) or 'not read yet'}")

    def take_told(self, count: int) -> None:
        """What another scaler is told from now on."""
        if count != self.told:
            self._note_told(count)

    def _note_told(self, count: int) -> None:
        self.told = count
        metrics.replicas_told.set((self.scaled.pool,), count)

    def _take(self, found: DiscoveredPool) -> None:
        self._found = found
        if found.replicas is not None:
            described = self._describe(self.scaled.pool, found.replicas)
            self._pods.take(found.pods, found.replicas, described, time.time())
        self._on_found(self.scaled.pool, found)

    def _note_count(self) -> None:
        """Something changed: whose count it is, and whether ours has come to be seen."""
        assert self._workload is not None
        for workload in self._workload.objects:
            if self._asked is not None and is_before(workload.metadata.resource_version, self._asked[1]):
                continue  # from before ours
            self._asked = None
            if self.told is None and self.scaled.settings.kubernetes_scaler != "heterodyne":
                self._note_told(workload.replicas)  # until there is something better to say, what there is
            rival = self._rivalry.see(workload.replicas, last_scaler(workload), time.time())
            if rival is not None:
                _log.warning(
                    "another_scaler",
                    pool=self.scaled.pool,
                    workload=self._object,
                    scaler=rival,
                    wanted=workload.replicas,
                    fight=self._rivalry.complaint(time.time()),
                )

    def _problem(self, workload: ScaledWorkload) -> str | None:
        """Of the pool as a whole: a fight, pods that may not be made, or what is wrong with their discovery."""
        fight = self._rivalry.complaint(time.time())
        if fight is not None:
            return fight
        for one in workload.status.conditions or ():
            if one.type == "ReplicaFailure" and one.status == "True":
                return f"{self._object}: {one.reason}: {one.message}"
        return self._found.problems[0].text if self._found.problems else None

    async def _namespace(self) -> str:
        pause_s = PAUSE_FIRST_S
        while True:
            try:
                return self.scaled.settings.kubernetes_namespace or await self._api.namespace()
            except ApiError as error:
                self._error = error
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MAX_S)


def is_heard(at: float | None) -> bool:
    """Whether what was known then may be taken for what is."""
    return at is not None and at > time.time() - SILENT_S


def is_before(version: str, other: str) -> bool:
    """Versions of one kind of object are numbers that grow; of one that is none nothing is known."""
    return version.isdecimal() and other.isdecimal() and int(version) < int(other)
