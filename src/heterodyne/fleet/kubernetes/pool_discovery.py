"""Follows the replicas of one pool in a cluster: which pods serve, where, on what; and what keeps others from it."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence

from msgspec import Struct

from heterodyne.concurrency.deadline import deadline_at
from heterodyne.fleet.kubernetes.api import Choice, KubernetesApi
from heterodyne.fleet.kubernetes.endpoints import PodEndpoint, pod_endpoints, pod_problems, slice_endpoints
from heterodyne.fleet.kubernetes.errors import ApiError
from heterodyne.fleet.kubernetes.kind import ENDPOINT_SLICES, NODES, PODS, SERVICES, Object, ObjectKind
from heterodyne.fleet.kubernetes.objects import ClusterNode, EndpointSlice, Pod
from heterodyne.fleet.kubernetes.reflector import PAUSE_FIRST_S, PAUSE_MAX_S, Reflector
from heterodyne.fleet.kubernetes_settings import KubernetesPoolSettings

SERVICE_LABEL = "kubernetes.io/service-name"
SETTLE_S = 0.05  # a rollout changes many objects in one breath
NODES_MAX = 5000


class DiscoveryProblem(Struct, frozen=True):
    """What keeps replicas away, or what is not known of them."""

    kind: str  # a word for metrics
    text: str  # begins with the object's path, and after a colon what is wrong with it

    @property
    def about(self) -> tuple[str, str]:
        """The same for as long as it lasts, however it is worded."""
        return self.kind, self.text.partition(": ")[0]


class FoundReplica(Struct, frozen=True, kw_only=True):
    """One endpoint, and the node that it is on."""

    endpoint: PodEndpoint
    node: ClusterNode | None = None  # None: it was not asked for, or may not be


class DiscoveredPool(Struct, frozen=True, kw_only=True):
    """A pool as the cluster has it."""

    replicas: tuple[FoundReplica, ...] | None = None  # None: it is not known yet
    pods: tuple[Pod, ...] = ()  # all of them, those that are none yet included
    problems: tuple[DiscoveryProblem, ...] = ()
    heard_at: float | None = None  # seconds since the epoch, when it was last known to be so; None: never yet


class PoolDiscovery:
    """One per pool with `discover = "kubernetes"`; belongs to one event loop."""

    def __init__(
        self,
        api: KubernetesApi,
        pool: KubernetesPoolSettings,
        *,
        resync_s: float,
        on_found: Callable[[DiscoveredPool], None],
    ) -> None:
        self._api = api
        self._pool = pool
        self._resync_s = resync_s
        self._on_found = on_found
        self._changed = asyncio.Event()
        self._slices: Reflector[EndpointSlice] | None = None
        self._pods: Reflector[Pod] | None = None
        self._nodes: dict[str, ClusterNode] = {}
        self._place_error: ApiError | None = None
        self._node_error: ApiError | None = None

    async def run(self) -> None:
        """Until cancelled. A Service that selects other pods than before is followed anew."""
        while True:
            namespace, selector = await self._place()
            self._slices = self._pods = None
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(run, name="discovery") for run in self._following(namespace, selector)]
                await self._compose_until_moved(namespace, selector)
                for task in tasks:
                    task.cancel()

    def _following(self, namespace: str, selector: str | None) -> list[Coroutine[object, object, None]]:
        service, runs = self._pool.kubernetes_service, []
        if service is not None:
            self._slices = self._reflector(ENDPOINT_SLICES, namespace, f"{SERVICE_LABEL}={service}")
            runs.append(self._slices.run())
        if selector is not None:
            self._pods = self._reflector(PODS, namespace, selector)
            runs.append(self._pods.run())
        return runs

    def _reflector(self, kind: ObjectKind[Object], namespace: str, selector: str) -> Reflector[Object]:
        chosen = Choice(labels=selector)
        return Reflector(self._api, kind, namespace, chosen, resync_s=self._resync_s, on_change=self._changed.set)

    async def _place(self) -> tuple[str, str | None]:
        """The namespace, and the selector of the pods: None where somebody else writes the Service's slices."""
        pause_s = PAUSE_FIRST_S
        while True:
            try:
                namespace = self._pool.kubernetes_namespace or await self._api.namespace()
                return namespace, await self._selector(namespace)
            except ApiError as error:
                self._place_error = error
                self._tell()
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MAX_S)

    async def _selector(self, namespace: str) -> str | None:
        if self._pool.kubernetes_service is None:
            return self._pool.kubernetes_selector
        service = await self._api.get(SERVICES, namespace, self._pool.kubernetes_service)
        self._place_error = None
        labels = service.spec.selector
        return ",".join(f"{name}={value}" for name, value in sorted(labels.items())) if labels else None

    async def _compose_until_moved(self, namespace: str, selector: str | None) -> None:
        loop = asyncio.get_running_loop()
        look_at_s = loop.time() + self._resync_s
        while True:
            try:
                async with deadline_at(look_at_s):
                    await self._changed.wait()
            except TimeoutError:
                look_at_s = loop.time() + self._resync_s
                self._nodes.clear()
                if await self._is_moved(namespace, selector):
                    return
            await asyncio.sleep(SETTLE_S)
            self._changed.clear()
            await self._read_nodes()
            self._tell()

    async def _is_moved(self, namespace: str, selector: str | None) -> bool:
        try:
            return await self._selector(namespace) != selector
        except ApiError as error:
            self._place_error = error
            return False

    async def _read_nodes(self) -> None:
        """Those that are new; the first that cannot be read ends it until the next change."""
        if not self._pool.kubernetes_reads_nodes:
            return
        self._node_error = None
        for name in dict.fromkeys(one.node for one in self._endpoints() if one.node is not None):
            if name in self._nodes or len(self._nodes) >= NODES_MAX:
                continue
            try:
                self._nodes[name] = await self._api.get(NODES, "", name)
            except ApiError as error:
                self._node_error = error
                return

    def _endpoints(self) -> tuple[PodEndpoint, ...]:
        port = self._pool.kubernetes_port
        number = int(port) if port is not None and port.isdecimal() else port
        pods = () if self._pods is None else self._pods.objects
        return (
            pod_endpoints(pods, number) if self._slices is None else slice_endpoints(self._slices.objects, pods, number)
        )

    def _tell(self) -> None:
        followed = [one for one in (self._slices, self._pods) if one is not None]
        heard = [one.heard_at for one in followed if one.heard_at is not None]
        is_known = bool(followed) and len(heard) == len(followed)
        endpoints = self._endpoints() if is_known else ()
        errors = (self._place_error, *(one.error for one in followed), self._node_error)
        self._on_found(
            DiscoveredPool(
                replicas=tuple(FoundReplica(endpoint=one, node=self._nodes.get(one.node or "")) for one in endpoints)
                if is_known
                else None,
                pods=() if self._pods is None else self._pods.objects,
                problems=(
                    *(DiscoveryProblem(one.kind, str(one)) for one in errors if one is not None),
                    *(self._absences(endpoints) if is_known else ()),
                ),
                heard_at=min(heard) if is_known else None,
            )
        )

    def _absences(self, endpoints: Sequence[PodEndpoint]) -> Iterator[DiscoveryProblem]:
        """Why there are fewer replicas than pods, or none."""
        pods = () if self._pods is None else self._pods.objects
        yield from (DiscoveryProblem(one.kind, one.text) for one in pod_problems(pods))
        pool = self._pool
        place = (
            f"Service {pool.kubernetes_service}" if pool.kubernetes_service else f"selector {pool.kubernetes_selector}"
        )
        if self._pods is not None and not pods:
            yield DiscoveryProblem("no_pods", f"{place}: no pod has these labels")
        elif not endpoints:
            port = "one port alone" if pool.kubernetes_port is None else f"port {pool.kubernetes_port}"
            yield DiscoveryProblem("no_endpoints", f"{place}: no endpoint with {port}")
        elif not any(one.is_ready for one in endpoints):
            yield DiscoveryProblem("none_ready", f"{place}: none of {len(endpoints)} endpoints is ready")
