"""SGLang: `python -m sglang.launch_server`."""

from heterodyne.physics.precision import Precision
from heterodyne.planning.launch.environment import environment
from heterodyne.planning.launch.images import SGLANG_VERSION, image, image_notes
from heterodyne.planning.launch.launch_plan import ENGINE_PORT, Flag, LaunchPlan, Site
from heterodyne.planning.launch.sizing import Sizing
from heterodyne.planning.launch.speculation import DraftKind, SpeculativeDecoding

DOCUMENTATION = f"Flags as in the server arguments of SGLang {SGLANG_VERSION}."


def launch(sizing: Sizing, site: Site) -> LaunchPlan:
    """The command of one replica."""
    layout = sizing.layout
    chosen = image(layout.engine, sizing.platform, layout.accelerator.architecture)
    return LaunchPlan(
        program=("python3", "-m", "sglang.launch_server"),
        flags=(
            Flag(words=("--model-path", sizing.weights.place)),
            Flag(words=("--host", site.address)),
            Flag(words=("--port", str(ENGINE_PORT))),
            Flag(words=("--served-model-name", layout.model.name), because="the public name"),
            *_shape(sizing),
            Flag(words=("--context-length", str(sizing.context_tokens)), because=sizing.because("context")),
            Flag(
                words=("--mem-fraction-static", f"{sizing.memory_fraction:g}"),
                because=sizing.because("memory_fraction"),
            ),
            Flag(words=("--max-running-requests", str(sizing.sequences)), because=sizing.because("sequences")),
            Flag(words=("--chunked-prefill-size", str(sizing.step_tokens)), because=sizing.because("step_tokens")),
            Flag(words=("--enable-metrics",), because="off by default, and the gateway reads them"),
            *([] if sizing.guessing is None else _speculative(sizing.guessing, sizing.because("guessing"))),
        ),
        environment=environment(sizing, site),
        image=chosen,
        served_name=layout.model.name,
        documentation=DOCUMENTATION,
        notes=("the radix cache, on by default, computes shared openings once", *image_notes(chosen)),
    )


def _shape(sizing: Sizing) -> list[Flag]:
    flags = [Flag(words=("--tp-size", str(sizing.ranks)), because=sizing.because("tp"))]
    if sizing.is_expert_parallel:
        flags.append(Flag(words=("--ep-size", str(sizing.ranks)), because=sizing.because("experts")))
    if sizing.weights.is_quantised_on_load:
        flags.append(Flag(words=("--quantization", "fp8"), because="the checkpoint has sixteen bits"))
    elif sizing.layout.precision is Precision.FP16:
        flags.append(Flag(words=("--dtype", "float16")))
    if sizing.layout.kv_precision is Precision.FP8:
        flags.append(Flag(words=("--kv-cache-dtype", "fp8_e4m3"), because=sizing.because("kv_precision")))
    return flags


def _speculative(guessing: SpeculativeDecoding, because: str) -> list[Flag]:
    if guessing.kind is DraftKind.NGRAM or guessing.draft_weights is None:
        return [
            Flag(words=("--speculative-algorithm", "NGRAM"), because=because),
            Flag(words=("--speculative-num-draft-tokens", str(guessing.tokens))),
        ]
    return [
        Flag(words=("--speculative-algorithm", "STANDALONE"), because=because),
        Flag(words=("--speculative-draft-model-path", guessing.draft_weights)),
        Flag(words=("--speculative-num-steps", str(guessing.tokens))),
        Flag(words=("--speculative-eagle-topk", "1")),
        Flag(words=("--speculative-num-draft-tokens", str(guessing.tokens + 1))),
    ]
