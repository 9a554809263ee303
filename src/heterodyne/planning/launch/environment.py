"""Environment variables by platform. Names were read in vLLM 0.32.0 (`envs.py`), tpu-inference 0.32.0, the vLLM
plugin for Gaudi 0.21.0, AWS Neuron 2.33.0 and SGLang 0.5.23; a variable we could not find there is not set."""

from math import ceil

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.planning.launch.launch_plan import Site, Variable
from heterodyne.planning.launch.sizing import Sizing
from heterodyne.planning.platform import Platform

GIB = 2**30
_VISIBLE = {
    Platform.CUDA: "CUDA_VISIBLE_DEVICES",
    Platform.ROCM: "HIP_VISIBLE_DEVICES",
    Platform.XPU: "ZE_AFFINITY_MASK",
}


def environment(sizing: Sizing, site: Site) -> tuple[Variable, ...]:
    """What the process needs to find in its environment; in a pod the cluster picks the devices."""
    variables = [*_of_engine(sizing, site), *([] if site.is_pod else _devices(sizing))]
    if sizing.layout.engine is EngineKind.VLLM:
        variables.append(Variable(name="VLLM_NO_USAGE_STATS", value="1", because="no usage reports leave the house"))
    return tuple(variables)


def kv_space_gib(sizing: Sizing) -> int:
    """Memory that vLLM on a processor sets aside for keys and values, of each socket."""
    needed, room = sizing.budget.kv_bytes / GIB, sizing.budget.kv_room_bytes / GIB
    return max(1, min(ceil(needed), int(room)))


def _devices(sizing: Sizing) -> list[Variable]:
    chips, platform = sizing.layout.tp, sizing.platform
    if platform in _VISIBLE:
        value = ",".join(map(str, range(chips)))
        return [Variable(name=_VISIBLE[platform], value=value, because="the first chips; change when others are free")]
    if platform is Platform.NEURON:
        value = f"0-{sizing.ranks - 1}"
        because = f"the NeuronCores of {chips} chip{'s' if chips > 1 else ''}"
        return [Variable(name="NEURON_RT_VISIBLE_CORES", value=value, because=because)]
    return []


def _of_engine(sizing: Sizing, site: Site) -> list[Variable]:
    match sizing.layout.engine, sizing.platform:
        case EngineKind.VLLM, Platform.ROCM:
            return [Variable(name="VLLM_ROCM_USE_AITER", value="1", because="AMD's own kernels, off by default")]
        case EngineKind.SGLANG, Platform.ROCM:
            return [Variable(name="SGLANG_USE_AITER", value="1", because="AMD's own kernels")]
        case EngineKind.VLLM, Platform.TPU:
            because = "compiled shapes outlive the container"
            return [Variable(name="VLLM_XLA_CACHE_PATH", value="/cache/xla", because=because)] if site.is_pod else []
        case EngineKind.VLLM, Platform.GAUDI:
            return [
                Variable(name="PT_HPU_LAZY_MODE", value="0", because="compile graphs, the plugin's default"),
                Variable(name="VLLM_BUCKETING_STRATEGY", value="exp", because="few shapes to warm up"),
            ]
        case EngineKind.VLLM, Platform.NEURON if sizing.layout.accelerator.name != "inferentia2":
            because = "compiling may take longer than the ten minutes allowed by default"
            return [Variable(name="VLLM_NEURON_COMPILATION_TIMEOUT", value="1800", because=because)]
        case EngineKind.VLLM, Platform.CPU:
            return [
                Variable(
                    name="VLLM_CPU_KVCACHE_SPACE",
                    value=str(kv_space_gib(sizing)),
                    because=f"GiB that hold {sizing.sequences} x {sizing.usual_tokens} tokens",
                ),
                Variable(name="VLLM_CPU_OMP_THREADS_BIND", value="auto", because="one rank a memory node"),
            ]
        case _:
            return []
