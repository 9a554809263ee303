"""Pure: from slices and pods to the endpoints of one pool, each once, and what keeps the others from being one."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from heterodyne.fleet.kubernetes.objects import ContainerStatus, EndpointSlice, Pod, SliceEndpoint

STATEFUL = "StatefulSet"  # its pods come again under their names
BROKEN_WAITS = (
    "ImagePullBackOff",
    "ErrImagePull",
    "InvalidImageName",
    "ImageInspectError",
    "ErrImageNeverPull",
    "CrashLoopBackOff",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
)
ID_UID_LETTERS = 5
MESSAGE_LETTERS = 300


class PodEndpoint(Struct, frozen=True, kw_only=True):
    """One engine of a pool, as the cluster has it."""

    id: str  # of one life: a pod of a StatefulSet that comes again has another
    host: str
    port: int
    is_ready: bool
    is_terminating: bool = False
    pod: str | None = None  # None: no pod stands behind it
    node: str | None = None
    zone: str | None = None
    labels: Mapping[str, str] = {}  # of the pod


class PodProblem(Struct, frozen=True, kw_only=True):
    """Why a pod is no replica."""

    pod: str
    kind: str  # a word for metrics
    text: str


def slice_endpoints(
    slices: Iterable[EndpointSlice], pods: Iterable[Pod], port: str | int | None
) -> tuple[PodEndpoint, ...]:
    """Of a Service. A pod that has an address of either family is one endpoint, by its IPv4 address."""
    by_name = {pod.metadata.name: pod for pod in pods}
    found: dict[str, PodEndpoint] = {}
    for one in sorted(slices, key=lambda one: (one.address_type != "IPv4", one.metadata.name)):
        number = _slice_port(one, port)
        if number is None or one.address_type == "FQDN":
            continue
        for endpoint in one.endpoints or ():
            made = _of_slice(endpoint, number, by_name)
            if made is not None:
                found.setdefault(made.id, made)
    return tuple(found.values())


def pod_endpoints(pods: Iterable[Pod], port: str | int | None) -> tuple[PodEndpoint, ...]:
    """Of pods that a label selector chose; those without an address or the port are none."""
    return tuple(made for pod in pods if (made := _of_pod(pod, port)) is not None)


def pod_problems(pods: Iterable[Pod]) -> tuple[PodProblem, ...]:
    """Pods that will not run by themselves: no node takes them, or a container cannot start."""
    return tuple(problem for pod in pods if (problem := _pod_problem(pod)) is not None)


def is_ready(pod: Pod) -> bool:
    """Whether its cluster would send it requests."""
    return pod.metadata.deletion_timestamp is None and any(
        one.type == "Ready" and one.status == "True" for one in pod.status.conditions or ()
    )


def life_id(pod: Pod) -> str:
    """A name that no later pod has."""
    owners = pod.metadata.owner_references or ()
    if any(one.kind == STATEFUL for one in owners):
        return f"{pod.metadata.name}-{pod.metadata.uid[:ID_UID_LETTERS]}"
    return pod.metadata.name


def _of_slice(endpoint: SliceEndpoint, port: int, pods: Mapping[str, Pod]) -> PodEndpoint | None:
    if not endpoint.addresses:
        return None
    host, target = endpoint.addresses[0], endpoint.target_ref
    pod = pods.get(target.name) if target is not None and target.kind == "Pod" else None
    conditions = endpoint.conditions
    return PodEndpoint(
        id=life_id(pod)
        if pod is not None
        else (target.name if target is not None and target.name else f"{host}-{port}"),
        host=host,
        port=port,
        is_ready=conditions.ready is not False,
        is_terminating=conditions.terminating is True,
        pod=None if pod is None else pod.metadata.name,
        node=endpoint.node_name,
        zone=endpoint.zone,
        labels={} if pod is None else pod.metadata.labels or {},
    )


def _of_pod(pod: Pod, port: str | int | None) -> PodEndpoint | None:
    number = _pod_port(pod, port)
    if pod.status.pod_ip is None or number is None or pod.status.phase in ("Succeeded", "Failed"):
        return None
    return PodEndpoint(
        id=life_id(pod),
        host=pod.status.pod_ip,
        port=number,
        is_ready=is_ready(pod),
        is_terminating=pod.metadata.deletion_timestamp is not None,
        pod=pod.metadata.name,
        node=pod.spec.node_name,
        labels=pod.metadata.labels or {},
    )


def _slice_port(one: EndpointSlice, port: str | int | None) -> int | None:
    ports = [each for each in one.ports or () if each.port is not None]
    if port is None:
        return ports[0].port if len(ports) == 1 else None
    return next((each.port for each in ports if port in (each.name, each.port)), None)


def _pod_port(pod: Pod, port: str | int | None) -> int | None:
    if isinstance(port, int):
        return port  # a container may listen where it declares nothing
    declared = [each for container in pod.spec.containers for each in container.ports or ()]
    if port is None:
        return declared[0].container_port if len(declared) == 1 else None
    return next((each.container_port for each in declared if each.name == port), None)


def _pod_problem(pod: Pod) -> PodProblem | None:
    name = f"Pod {pod.metadata.namespace}/{pod.metadata.name}"
    for one in pod.status.conditions or ():
        if one.type == "PodScheduled" and one.status == "False":
            return PodProblem(
                pod=pod.metadata.name,
                kind="unschedulable",
                text=f"{name}: no node takes it: {one.reason}: {(one.message or '')[:MESSAGE_LETTERS]}",
            )
    statuses: Sequence[ContainerStatus] = (
        *(pod.status.init_container_statuses or ()),
        *(pod.status.container_statuses or ()),
    )
    for status in statuses:
        waiting = status.state.waiting
        if waiting is not None and waiting.reason in BROKEN_WAITS:
            return PodProblem(
                pod=pod.metadata.name,
                kind="waiting",
                text=f"{name}: container {status.name} ({status.image}): {waiting.reason}: "
                f"{waiting.message[:MESSAGE_LETTERS]}",
            )
    return None
