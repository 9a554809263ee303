"""What a pod asks of its node, by platform: the device plugin's resource, labels to find the node, host memory."""

from math import ceil

from msgspec import Struct

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.weights import weight_bytes
from heterodyne.planning.launch.platform import Platform
from heterodyne.planning.launch.sizing import Sizing
from heterodyne.planning.yaml_text import YamlValue

GIB = 2**30
HOST_GIB = 16  # the engine's own process: tokenizers, pinned buffers, compiled code
CORES = 4
CORES_PER_CHIP = 2
CORES_PROCESSOR = 16  # where the processor does the arithmetic; nodes differ, so it is a floor

# As the makers' device plugins register them.
RESOURCES = {
    Platform.CUDA: "nvidia.com/gpu",
    Platform.ROCM: "amd.com/gpu",
    Platform.TPU: "google.com/tpu",
    Platform.NEURON: "aws.amazon.com/neuron",
    Platform.GAUDI: "habana.ai/gaudi",
    Platform.XPU: "gpu.intel.com/xe",
}
_TPU_NODES = {
    "tpu-v5e": ("tpu-v5-lite-podslice", {1: "1x1", 4: "2x2", 8: "2x4"}),
    "tpu-v6e": ("tpu-v6e-slice", {1: "1x1", 4: "2x2", 8: "2x4"}),
    "tpu-v5p": ("tpu-v5p-slice", {4: "2x2x1"}),
    "tpu-v7x": ("tpu7x", {4: "2x2x1"}),
}
_ARCHITECTURE_LABEL = "kubernetes.io/arch"
# Images whose engine runs from a world-readable place and keeps its caches under HOME. Others start as root.
_WITHOUT_ROOT = {
    (EngineKind.VLLM, Platform.CUDA),
    (EngineKind.VLLM, Platform.CPU),
    (EngineKind.LLAMACPP, Platform.CUDA),
    (EngineKind.LLAMACPP, Platform.CPU),
}
USER = 10001


class Node(Struct, frozen=True, kw_only=True):
    """Where a pod may run."""

    selector: dict[str, str] = {}
    tolerated: tuple[str, ...] = ()  # taints that keep other pods away from such nodes


def node(sizing: Sizing) -> Node:
    """Labels and taints of the nodes that have the chips."""
    chip = sizing.layout.accelerator
    resource = RESOURCES.get(sizing.platform)
    tolerated = () if resource is None else (resource,)
    if chip.name in _TPU_NODES:
        accelerator, topologies = _TPU_NODES[chip.name]
        return Node(
            selector={
                "cloud.google.com/gke-tpu-accelerator": accelerator,
                "cloud.google.com/gke-tpu-topology": topologies[sizing.layout.tp],
            },
            tolerated=tolerated,
        )
    if sizing.platform is Platform.CPU:
        return Node(selector={_ARCHITECTURE_LABEL: "arm64" if chip.vendor == "arm" else "amd64"})
    return Node(tolerated=tolerated)


def resources(sizing: Sizing) -> dict[str, YamlValue]:
    """Requests and limits of the engine's container. Memory has no limit: page cache of the weights would count."""
    requests: dict[str, YamlValue] = {"cpu": str(_cores(sizing)), "memory": f"{_memory_gib(sizing)}Gi"}
    resource = RESOURCES.get(sizing.platform)
    if resource is None:
        return {"requests": requests}
    chips = str(sizing.layout.tp)
    return {"requests": {**requests, resource: chips}, "limits": {resource: chips}}


def weights_gib(sizing: Sizing) -> int:
    """The size of the files an engine loads; twice as much where it halves them as it reads."""
    size = weight_bytes(sizing.layout.model, sizing.layout.precision) / GIB
    return ceil(size * (2 if sizing.weights.is_quantised_on_load else 1))


def is_without_root(sizing: Sizing) -> bool:
    """Whether the image runs under an ordinary user."""
    return (sizing.layout.engine, sizing.platform) in _WITHOUT_ROOT


def shared_memory_gib(sizing: Sizing) -> int:
    """For the exchange between an engine's processes."""
    return 2 * max(4, sizing.layout.tp)


def _cores(sizing: Sizing) -> int:
    if sizing.platform is Platform.CPU:
        return CORES_PROCESSOR * sizing.layout.tp
    return CORES + CORES_PER_CHIP * sizing.layout.tp


def _memory_gib(sizing: Sizing) -> int:
    needed = HOST_GIB + shared_memory_gib(sizing)
    if sizing.platform is not Platform.CPU:
        return needed
    budget = sizing.budget
    return needed + ceil((budget.weights_bytes + budget.activation_bytes + budget.kv_bytes) * sizing.layout.tp / GIB)
