"""What a pod asks of its node, by platform: the device plugin's resource, labels to find the node, host memory."""

from math import ceil

from msgspec import Struct

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.weights import weight_bytes
from heterodyne.planning.launch.sizing import Sizing
from heterodyne.planning.platform import Platform
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
_TPU_LABEL = "cloud.google.com/gke-tpu-accelerator"
_TPU_NODES = {
    "tpu-v5e": ("tpu-v5-lite-podslice", {1: "1x1", 4: "2x2", 8: "2x4"}),
    "tpu-v6e": ("tpu-v6e-slice", {1: "1x1", 4: "2x2", 8: "2x4"}),
    "tpu-v5p": ("tpu-v5p-slice", {4: "2x2x1"}),
    "tpu-v7x": ("tpu7x", {4: "2x2x1"}),
}
# As GPU feature discovery names the products on the nodes.
_NVIDIA_LABEL = "nvidia.com/gpu.product"
_NVIDIA_PRODUCTS = {
    "h100-sxm": "NVIDIA-H100-80GB-HBM3",
    "h100-pcie": "NVIDIA-H100-PCIe",
    "h200-sxm": "NVIDIA-H200",
    "gh200": "NVIDIA-GH200-480GB",
    "b200": "NVIDIA-B200",
    "b300": "NVIDIA-B300-SXM6-AC",
    "gb200": "NVIDIA-GB200",
    "gb300": "NVIDIA-GB300",
    "a100-80gb": "NVIDIA-A100-SXM4-80GB",
    "a100-pcie": "NVIDIA-A100-80GB-PCIe",
    "a100-40gb": "NVIDIA-A100-SXM4-40GB",
    "l40s": "NVIDIA-L40S",
    "l4": "NVIDIA-L4",
    "rtx-pro-6000": "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
}
# As AMD's node labeller does.
_AMD_LABEL = "amd.com/gpu.family"
_AMD_FAMILIES = {"mi250": "MI250X", "mi300x": "MI300X", "mi325x": "MI325X", "mi355x": "MI355X"}
INSTANCE_LABEL = "node.kubernetes.io/instance-type"
_AWS_INSTANCES = {"trainium2": "trn2.48xlarge", "inferentia2": "inf2.48xlarge"}
# By the label that names the accelerator, its values by accelerator of the catalogue.
NODE_LABELS = {
    _NVIDIA_LABEL: _NVIDIA_PRODUCTS,
    _AMD_LABEL: _AMD_FAMILIES,
    _TPU_LABEL: {name: value for name, (value, _) in _TPU_NODES.items()},
    INSTANCE_LABEL: _AWS_INSTANCES,
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
                _TPU_LABEL: accelerator,
                "cloud.google.com/gke-tpu-topology": topologies[sizing.layout.tp],
            },
            tolerated=tolerated,
        )
    if sizing.platform is Platform.CPU:
        return Node(selector={_ARCHITECTURE_LABEL: "arm64" if chip.vendor == "arm" else "amd64"})
    for label, values in (
        (_NVIDIA_LABEL, _NVIDIA_PRODUCTS),
        (_AMD_LABEL, _AMD_FAMILIES),
        (INSTANCE_LABEL, _AWS_INSTANCES),
    ):
        if chip.name in values:
            return Node(selector={label: values[chip.name]}, tolerated=tolerated)
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
