"""vLLM and its plugins for TPU, Gaudi, Neuron and processors: `vllm serve`."""

import json

from heterodyne.physics.precision import Precision
from heterodyne.planning.launch.environment import environment
from heterodyne.planning.launch.images import VLLM_VERSION, image, image_notes
from heterodyne.planning.launch.launch_plan import ENGINE_PORT, Flag, LaunchPlan, Site
from heterodyne.planning.launch.sizing import Sizing
from heterodyne.planning.launch.speculation import DraftKind, SpeculativeDecoding
from heterodyne.planning.platform import Platform

DOCUMENTATION = f"Flags as in the argument parser of vLLM {VLLM_VERSION}."
BLOCK_TOKENS_GAUDI = 128
# The other platforms' images hold an older vLLM, which stops at once.
_DRAINING = (Platform.CUDA, Platform.ROCM, Platform.TPU, Platform.CPU)


def launch(sizing: Sizing, site: Site) -> LaunchPlan:
    """The command of one replica."""
    layout, platform = sizing.layout, sizing.platform
    chosen = image(layout.engine, platform, layout.accelerator.architecture)
    return LaunchPlan(
        program=("vllm", "serve", sizing.weights.place),
        flags=(
            Flag(words=("--host", site.address)),
            Flag(words=("--port", str(ENGINE_PORT))),
            Flag(words=("--served-model-name", layout.model.name), because="the public name"),
            *_shape(sizing),
            *_memory(sizing),
            *_steps(sizing),
            *_drain(sizing),
        ),
        environment=environment(sizing, site),
        image=chosen,
        served_name=layout.model.name,
        documentation=DOCUMENTATION,
        notes=(*_notes(platform), *image_notes(chosen)),
    )


def _shape(sizing: Sizing) -> list[Flag]:
    flags = [Flag(words=("--tensor-parallel-size", str(sizing.ranks)), because=_width_because(sizing))]
    if sizing.is_expert_parallel:
        flags.append(Flag(words=("--enable-expert-parallel",), because=sizing.because("experts")))
    if sizing.weights.is_quantised_on_load:
        flags.append(Flag(words=("--quantization", "fp8"), because="the checkpoint has sixteen bits"))
    elif sizing.layout.precision is Precision.FP16:
        flags.append(Flag(words=("--dtype", "float16")))
    return flags


def _width_because(sizing: Sizing) -> str:
    because, chips = sizing.because("tp"), sizing.layout.tp
    if sizing.ranks == chips:
        return because
    return f"{because}; {chips} {'chips are' if chips > 1 else 'chip is'} {sizing.ranks} devices here"


def _memory(sizing: Sizing) -> list[Flag]:
    flags = [Flag(words=("--max-model-len", str(sizing.context_tokens)), because=sizing.because("context"))]
    if sizing.platform not in (Platform.CPU, Platform.NEURON):  # which count their room another way
        words = ("--gpu-memory-utilization", f"{sizing.memory_fraction:g}")
        flags.append(Flag(words=words, because=sizing.because("memory_fraction")))
    if sizing.layout.kv_precision is Precision.FP8:
        flags.append(Flag(words=("--kv-cache-dtype", "fp8"), because=sizing.because("kv_precision")))
    if sizing.platform is Platform.GAUDI:
        flags.append(Flag(words=("--block-size", str(BLOCK_TOKENS_GAUDI)), because="the block its kernels are for"))
    return flags


def _steps(sizing: Sizing) -> list[Flag]:
    flags = [Flag(words=("--max-num-seqs", str(sizing.sequences)), because=sizing.because("sequences"))]
    if sizing.layout.accelerator.name == "inferentia2":
        because = "compiled whole for this chip by NxD Inference"
        return [*flags, Flag(words=("--no-enable-prefix-caching",), because=because)]
    flags += [
        Flag(words=("--max-num-batched-tokens", str(sizing.step_tokens)), because=sizing.because("step_tokens")),
        Flag(words=("--enable-prefix-caching",), because="shared openings are computed once"),
    ]
    if sizing.platform is Platform.NEURON:
        return [*flags, _buckets(sizing)]
    flags.append(Flag(words=("--enable-chunked-prefill",), because="a long prompt does not stop the others' tokens"))
    if sizing.guessing is not None:
        words = ("--speculative-config", json.dumps(_speculative(sizing.guessing)))
        flags.append(Flag(words=words, because=sizing.because("guessing")))
    return flags


def _drain(sizing: Sizing) -> list[Flag]:
    if sizing.platform not in _DRAINING:
        return []
    because = "seconds for running answers after SIGTERM"
    return [Flag(words=("--shutdown-timeout", str(sizing.drain_s)), because=because)]


def _buckets(sizing: Sizing) -> Flag:
    """Shapes to compile; the largest must be the limits themselves."""
    smallest = min(128, sizing.step_tokens)
    config = {
        "num_batched_tokens_buckets": _doubling(smallest, sizing.step_tokens),
        "num_seqs_buckets": _doubling(1, sizing.sequences),
    }
    words = ("--additional-config", json.dumps({"neuron_config": config}))
    return Flag(words=words, because="every shape is compiled before the first request")


def _doubling(first: int, last: int) -> list[int]:
    sizes = [first]
    while sizes[-1] < last:
        sizes.append(min(sizes[-1] * 2, last))
    return sizes


def _speculative(guessing: SpeculativeDecoding) -> dict[str, object]:
    if guessing.kind is DraftKind.NGRAM:
        return {"method": "ngram", "num_speculative_tokens": guessing.tokens, "prompt_lookup_max": guessing.tokens}
    return {
        "method": "draft_model",
        "model": guessing.draft_weights,
        "num_speculative_tokens": guessing.tokens,
    }


def _notes(platform: Platform) -> tuple[str, ...]:
    match platform:
        case Platform.TPU:
            return (
                "tpu-inference pads batches and prompts to powers of two; VLLM_TPU_BUCKET_PADDING_GAP sets linear "
                "steps where padding costs too much",
            )
        case Platform.NEURON:
            return (
                "plugin options as in the documentation of AWS Neuron 2.33.0, whose images hold an older vLLM",
                "the first start compiles for minutes to an hour; keep its cache",
            )
        case Platform.GAUDI:
            return (
                "plugin variables as in the documentation of the vLLM plugin for Gaudi 0.21.0",
                "the first start warms up every bucket; VLLM_SKIP_WARMUP=true trades that for slow first answers",
            )
        case _:
            return ()
