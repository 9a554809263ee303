"""The kinds of objects that are read, and their places in the API."""

from typing import Generic, TypeVar

from msgspec import Struct

from heterodyne.fleet.kubernetes.objects import (
    ClusterNode,
    ClusterObject,
    DisruptionBudget,
    EndpointSlice,
    Pod,
    ScaledWorkload,
    Service,
)

Object = TypeVar("Object", bound=ClusterObject)


class ObjectKind(Struct, Generic[Object], frozen=True, kw_only=True):
    """One kind of object."""

    type: type[Object]
    group: str  # empty: the core one
    version: str
    plural: str
    is_namespaced: bool = True

    def path(self, namespace: str, name: str = "") -> str:
        """Of one object, or without a name of all in the namespace."""
        group = f"/apis/{self.group}" if self.group else "/api"
        place = f"/namespaces/{namespace}" if self.is_namespaced else ""
        return f"{group}/{self.version}{place}/{self.plural}" + (f"/{name}" if name else "")


ENDPOINT_SLICES = ObjectKind(type=EndpointSlice, group="discovery.k8s.io", version="v1", plural="endpointslices")
PODS = ObjectKind(type=Pod, group="", version="v1", plural="pods")
SERVICES = ObjectKind(type=Service, group="", version="v1", plural="services")
BUDGETS = ObjectKind(type=DisruptionBudget, group="policy", version="v1", plural="poddisruptionbudgets")
WORKLOADS = {
    "deployment": ObjectKind(type=ScaledWorkload, group="apps", version="v1", plural="deployments"),
    "statefulset": ObjectKind(type=ScaledWorkload, group="apps", version="v1", plural="statefulsets"),
    "leaderworkerset": ObjectKind(
        type=ScaledWorkload, group="leaderworkerset.x-k8s.io", version="v1", plural="leaderworkersets"
    ),
}
NODES = ObjectKind(type=ClusterNode, group="", version="v1", plural="nodes", is_namespaced=False)
