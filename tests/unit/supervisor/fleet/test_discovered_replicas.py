"""What a cluster says of a pool becomes replicas as settings would describe them."""

import msgspec
from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.fleet.kubernetes.endpoints import PodEndpoint
from heterodyne.fleet.kubernetes.objects import ClusterNode
from heterodyne.fleet.kubernetes.pool_discovery import FoundReplica
from heterodyne.fleet.settings import PoolSettings
from heterodyne.supervisor.fleet.discovered_replicas import WantedReplicas, wanted_replicas
from tests.support.kubernetes import objects

POOL = PoolSettings(
    model="m",
    engine="vllm",
    discover="kubernetes",
    kubernetes_service="chat",
    kubernetes_labels=("team",),
    version="v0",
)
HERE = PodEndpoint(id="a", host="10.0.0.1", port=8000, is_ready=True, node="gpu-1", labels={"team": "x", "other": "y"})


def node(product: str | None = "NVIDIA-L4", *, gpus: str = "1", **labels: str) -> ClusterNode:
    made = objects.node("gpu-1", product, gpus=gpus)
    made["metadata"]["labels"].update(labels)
    return msgspec.convert(made, ClusterNode)


def wanted(endpoint: PodEndpoint, on: ClusterNode | None, pool: PoolSettings = POOL) -> WantedReplicas:
    return wanted_replicas(Settings(pools={"chat": pool}), "chat", [FoundReplica(endpoint=endpoint, node=on)])


def test_accelerator_region_version_and_labels_come_from_the_cluster() -> None:
    versioned = structs.replace(HERE, labels={**HERE.labels, "app.kubernetes.io/version": "v7"})
    [member] = wanted(versioned, node()).members
    replica = member.replica
    assert (replica.id, replica.host, replica.port, replica.engine) == ("a", "10.0.0.1", 8000, "vllm")
    assert (replica.hardware, replica.region, replica.version) == ("l4", "eu-west-1", "v7")
    assert replica.labels == {"team": "x"}
    assert replica.price.usd_per_hour


def test_without_a_node_the_settings_say_what_it_is() -> None:
    pool = structs.replace(POOL, hardware="h100-sxm", region="here")
    found = wanted(HERE, None, pool)
    assert [(one.replica.hardware, one.replica.region, one.replica.version) for one in found.members] == [
        ("h100-sxm", "here", "v0")
    ]
    assert found.problems == ()


def test_what_leaves_is_not_wanted_and_what_is_not_ready_is_asked_nothing() -> None:
    assert wanted(structs.replace(HERE, is_terminating=True), None).members == ()
    assert wanted(structs.replace(HERE, is_ready=False), None).unready == {("10.0.0.1", 8000)}


def test_addresses_of_the_new_family_and_tls_are_called() -> None:
    pool = structs.replace(POOL, kubernetes_tls=True)
    [member] = wanted(structs.replace(HERE, host="fd00::1"), None, pool).members
    assert (member.replica.host, member.replica.port, member.replica.tls) == ("fd00::1", 8000, True)


def problems(on: ClusterNode, pool: PoolSettings = POOL) -> dict[str, str]:
    return {one.kind: one.text for one in wanted(HERE, on, pool).problems}


def test_nodes_that_do_not_say_their_accelerator_are_named_with_the_setting_that_would() -> None:
    assert problems(node(None)) == {
        "hardware_unknown": "Node gpu-1: no label nvidia.com/gpu.product; name it in pools.chat.hardware"
    }
    assert "Node gpu-1 offers no accelerator" in problems(node(None, gpus="0"))["no_accelerator"]
    told = problems(node("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"))["hardware_unknown"]
    assert 'nvidia.com/gpu.product is "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"' in told


def test_a_node_with_another_accelerator_than_the_settings_say_is_told() -> None:
    pool = structs.replace(POOL, hardware="h100")
    assert problems(node(), pool) == {"hardware_differs": "Node gpu-1 has l4, and pools.chat.hardware is h100-sxm"}
    assert [one.replica.hardware for one in wanted(HERE, node(), pool).members] == ["h100-sxm"]


def test_a_label_of_ones_own_names_the_accelerator() -> None:
    pool = structs.replace(POOL, kubernetes_hardware_label="example.com/chip")
    [member] = wanted(HERE, node("NVIDIA-L4", **{"example.com/chip": "mi300x"}), pool).members
    assert member.replica.hardware == "mi300x"
