"""Container images by engine and platform, as the engines' documentation names them. None was pulled by us."""

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.planning.platform import Platform

VLLM_VERSION = "0.32.0"
SGLANG_VERSION = "0.5.23"
TENSORRT_LLM_VERSION = "1.2.1"
LLAMACPP_BUILD = "b11549"

_NEURON = "public.ecr.aws/neuron/pytorch-inference-vllm-neuronx"
_LLAMACPP = "ghcr.io/ggml-org/llama.cpp"
_IMAGES: dict[tuple[EngineKind, Platform], str] = {
    (EngineKind.VLLM, Platform.CUDA): f"vllm/vllm-openai:v{VLLM_VERSION}",
    (EngineKind.VLLM, Platform.ROCM): f"vllm/vllm-openai-rocm:v{VLLM_VERSION}",
    (EngineKind.VLLM, Platform.TPU): f"vllm/vllm-tpu:v{VLLM_VERSION}",
    (EngineKind.VLLM, Platform.NEURON): f"{_NEURON}:0.24.0.1.1.0-neuronx-py313-sdk2.32.0-ubuntu24.04",
    (EngineKind.VLLM, Platform.GAUDI): (
        "vault.habana.ai/gaudi-docker/1.23.0/ubuntu22.04/habanalabs/vllm-installer-2.9.0:latest"
    ),
    (EngineKind.VLLM, Platform.XPU): "intel/llm-scaler-vllm",
    (EngineKind.VLLM, Platform.CPU): f"vllm/vllm-openai-cpu:v{VLLM_VERSION}",
    (EngineKind.SGLANG, Platform.CUDA): f"lmsysorg/sglang:v{SGLANG_VERSION}",
    (EngineKind.SGLANG, Platform.ROCM): f"lmsysorg/sglang:v{SGLANG_VERSION}-rocm700-mi30x",
    (EngineKind.TENSORRT_LLM, Platform.CUDA): f"nvcr.io/nvidia/tensorrt-llm/release:{TENSORRT_LLM_VERSION}",
    (EngineKind.LLAMACPP, Platform.CUDA): f"{_LLAMACPP}:server-cuda-{LLAMACPP_BUILD}",
    (EngineKind.LLAMACPP, Platform.ROCM): f"{_LLAMACPP}:server-rocm-{LLAMACPP_BUILD}",
    (EngineKind.LLAMACPP, Platform.XPU): f"{_LLAMACPP}:server-intel-{LLAMACPP_BUILD}",
    (EngineKind.LLAMACPP, Platform.CPU): f"{_LLAMACPP}:server-{LLAMACPP_BUILD}",
}
_BY_ARCHITECTURE = {
    (EngineKind.SGLANG, "cdna4"): f"lmsysorg/sglang:v{SGLANG_VERSION}-rocm700-mi35x",
    # Built on NxD Inference; the plugin behind the newer images is for Trainium 2 and 3.
    (EngineKind.VLLM, "neuron-v2"): f"{_NEURON}:0.16.0-neuronx-py312-sdk2.31.1-ubuntu24.04",
}


def image(engine: EngineKind, platform: Platform, architecture: str) -> str | None:
    """The image; None where engines do not run in containers."""
    return _BY_ARCHITECTURE.get((engine, architecture)) or _IMAGES.get((engine, platform))


def image_notes(name: str | None) -> tuple[str, ...]:
    """What to know of an image before it is pulled."""
    if name is None:
        return ("no container image is known for this platform; the command runs on the host",)
    if ":" not in name.rpartition("/")[2] or name.endswith(":latest"):
        return (f"{name} carries no version; pin one your registry has",)
    return ()
