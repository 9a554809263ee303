"""What is read of Kubernetes' objects: the fields that are asked about, and nothing else."""

from typing import Literal

from msgspec import Raw, Struct, field


class OwnerReference(Struct, frozen=True, kw_only=True, rename="camel"):
    """What made an object."""

    kind: str
    name: str


class ManagedFields(Struct, frozen=True, kw_only=True, rename={"fields": "fieldsV1"}):
    """Which fields an author of changes has set last."""

    manager: str = ""
    subresource: str = ""
    time: str = ""
    fields: Raw = Raw(b"{}")


class ObjectMeta(Struct, frozen=True, kw_only=True, rename="camel"):
    """What every object says of itself."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None
    deletion_timestamp: str | None = None
    creation_timestamp: str | None = None
    managed_fields: tuple[ManagedFields, ...] | None = None


class ClusterObject(Struct, frozen=True, kw_only=True):
    """Any of them."""

    metadata: ObjectMeta


class TargetReference(Struct, frozen=True, kw_only=True):
    """The pod behind an endpoint."""

    kind: str = ""
    name: str = ""
    uid: str = ""


class EndpointConditions(Struct, frozen=True, kw_only=True):
    """None means ready, as the API has it."""

    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class SliceEndpoint(Struct, frozen=True, kw_only=True, rename="camel"):
    """One address of a slice."""

    addresses: tuple[str, ...] = ()
    conditions: EndpointConditions = EndpointConditions()
    target_ref: TargetReference | None = None
    node_name: str | None = None
    zone: str | None = None


class EndpointPort(Struct, frozen=True, kw_only=True):
    """One port of all addresses of a slice."""

    name: str | None = None
    port: int | None = None


class EndpointSlice(ClusterObject, frozen=True, kw_only=True, rename="camel"):
    """Some of the endpoints of a Service."""

    address_type: str = "IPv4"
    endpoints: tuple[SliceEndpoint, ...] | None = None
    ports: tuple[EndpointPort, ...] | None = None


class ContainerPort(Struct, frozen=True, kw_only=True, rename="camel"):
    """A port that a container declares."""

    container_port: int
    name: str | None = None


class Container(Struct, frozen=True, kw_only=True):
    """One of a pod."""

    name: str
    ports: tuple[ContainerPort, ...] | None = None


class PodSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """What was asked for."""

    node_name: str | None = None
    containers: tuple[Container, ...] = ()


class ContainerWaiting(Struct, frozen=True, kw_only=True):
    """Why a container does not run yet."""

    reason: str = ""
    message: str = ""


class ContainerState(Struct, frozen=True, kw_only=True):
    """One of waiting, running, terminated."""

    waiting: ContainerWaiting | None = None


class ContainerStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a container is."""

    name: str
    image: str = ""
    state: ContainerState = ContainerState()
    restart_count: int = 0


class Condition(Struct, frozen=True, kw_only=True, rename="camel"):
    """A named yes or no."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None


class PodStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a pod is."""

    phase: str = ""
    pod_ip: str | None = field(default=None, name="podIP")
    conditions: tuple[Condition, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None


class Pod(ClusterObject, frozen=True, kw_only=True):
    """One pod."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class NodeStatus(Struct, frozen=True, kw_only=True):
    """What a node has to give."""

    allocatable: dict[str, str] | None = None


class ClusterNode(ClusterObject, frozen=True, kw_only=True):
    """One machine of the cluster."""

    status: NodeStatus = NodeStatus()


class ServiceSpec(Struct, frozen=True, kw_only=True):
    """Which pods it stands for; None: somebody else writes its slices."""

    selector: dict[str, str] | None = None


class Service(ClusterObject, frozen=True, kw_only=True):
    """One Service."""

    spec: ServiceSpec = ServiceSpec()


class WorkloadSpec(Struct, frozen=True, kw_only=True):
    """None: one, as the API has it."""

    replicas: int | None = None


class WorkloadStatus(Struct, frozen=True, kw_only=True):
    """What keeps its pods from being made."""

    conditions: tuple[Condition, ...] | None = None


class ScaledWorkload(ClusterObject, frozen=True, kw_only=True):
    """A Deployment, a StatefulSet or a LeaderWorkerSet; or its scale, which has the same `spec.replicas`."""

    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()

    @property
    def replicas(self) -> int:
        """How many are asked for."""
        return 1 if self.spec.replicas is None else self.spec.replicas


class SelectorRequirement(Struct, frozen=True, kw_only=True):
    """One term of a selector."""

    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: tuple[str, ...] = ()


class LabelSelector(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which pods are meant; an empty one means all."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[SelectorRequirement, ...] | None = None


class DisruptionBudgetSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """One of the two: a number, or a share such as `50%`."""

    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None


class DisruptionBudget(ClusterObject, frozen=True, kw_only=True):
    """A PodDisruptionBudget."""

    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()


class ListMeta(
    Struct, frozen=True, kw_only=True, rename={"resource_version": "resourceVersion", "next_page": "continue"}
):
    """Where a list stands."""

    resource_version: str = ""
    next_page: str | None = None


class ObjectList(Struct, frozen=True, kw_only=True):
    """A page of a collection, its objects as they came."""

    metadata: ListMeta = ListMeta()
    items: tuple[Raw, ...] = ()


class Status(Struct, frozen=True, kw_only=True):
    """How the API says no."""

    code: int = 0
    reason: str = ""
    message: str = ""


class WatchEvent(Struct, frozen=True, kw_only=True):
    """One line of a watch; what the object is depends on the type."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
    object: Raw
