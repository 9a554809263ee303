"""The names that the endpoint picker protocol gives to headers and metadata, and how its messages are read."""

from collections.abc import Iterable
from typing import Any, Final

from heterodyne.domain.fleet import FleetSnapshot, Replica, ReplicaId

DESTINATION: Final = "x-gateway-destination-endpoint"
DESTINATION_NAMESPACE: Final = "envoy.lb"
SERVED: Final = "x-gateway-destination-endpoint-served"
SUBSET: Final = "x-gateway-destination-endpoint-subset"
SUBSET_NAMESPACE: Final = "envoy.lb.subset_hint"
OBJECTIVES: Final = (b"x-gateway-inference-objective", b"x-llm-d-inference-objective")
FAIRNESS: Final = (b"x-gateway-inference-fairness-id", b"x-llm-d-inference-fairness-id")
# Promises, as llm-d's clients ask for them, and as ours do.
SLO_HEADERS: Final = {
    b"x-slo-ttft-ms": b"x-heterodyne-slo-ttft-ms",
    b"x-slo-tpot-ms": b"x-heterodyne-slo-itl-ms",
}
POOL_METADATA: Final = "x-heterodyne-inference-pool"  # of the gRPC call: for which InferencePool a proxy asks
TEST_SELECTION: Final = b"test-epp-endpoint-selection"  # of the conformance suite
TEST_SELECTED: Final = "x-conformance-test-selected-endpoint"
TEST_SERVED: Final = "x-conformance-test-served-endpoint"
ATTRIBUTES: Final = "envoy.filters.http.ext_proc"  # where a proxy puts attributes that it was told to send


def headers_of(header_map: Any) -> dict[bytes, bytes]:
    """By lower-case name, pseudo headers too; the values of equal names are joined as HTTP says."""
    headers: dict[bytes, bytes] = {}
    for header in header_map.headers:
        name = header.key.encode().lower()
        value = header.raw_value or header.value.encode()
        headers[name] = headers[name] + b", " + value if name in headers else value
    return headers


def try_subset(metadata: Any) -> frozenset[str] | None:
    """The only endpoints that the proxy can reach; None: it does not say."""
    found = metadata.filter_metadata.get(SUBSET_NAMESPACE)
    if found is None or SUBSET not in found.fields:
        return None
    value = found.fields[SUBSET]
    if value.WhichOneof("kind") == "list_value":
        return frozenset(one.string_value.strip() for one in value.list_value.values)
    return endpoints_in(value.string_value)


def endpoints_in(text: str) -> frozenset[str]:
    """Those between the commas."""
    return frozenset(one.strip() for one in text.split(",") if one.strip())


def served_endpoint(message: Any) -> str:
    """Where the proxy says that the answer came from; empty: it does not say."""
    metadata = message.metadata_context.filter_metadata.get(DESTINATION_NAMESPACE)
    if metadata is not None and SERVED in metadata.fields:
        return str(metadata.fields[SERVED].string_value)
    return attribute(message, "upstream.address")


def attribute(message: Any, name: str) -> str:
    """One that a proxy was told to send; empty: it does not."""
    found = message.attributes.get(ATTRIBUTES)
    return str(found.fields[name].string_value) if found is not None and name in found.fields else ""


def endpoint_of(replica: Replica) -> str:
    """As `ip:port`."""
    return f"[{replica.host}]:{replica.port}" if ":" in replica.host else f"{replica.host}:{replica.port}"


def replicas_at(endpoints: Iterable[str], fleet: FleetSnapshot) -> frozenset[ReplicaId]:
    """Those that are reached there; an address without a port means each of its ports."""
    wanted = set(endpoints)
    return frozenset(
        replica.id for replica in fleet.replicas if endpoint_of(replica) in wanted or replica.host in wanted
    )
