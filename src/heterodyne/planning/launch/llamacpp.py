"""llama.cpp: `llama-server`, whose sequences share one context."""

from heterodyne.domain.counted import counted
from heterodyne.physics.precision import Precision
from heterodyne.planning.launch.environment import environment
from heterodyne.planning.launch.images import LLAMACPP_BUILD, image, image_notes
from heterodyne.planning.launch.launch_plan import ENGINE_PORT, Flag, LaunchPlan, Site
from heterodyne.planning.launch.sizing import Sizing
from heterodyne.planning.launch.speculation import DraftKind, SpeculativeDecoding
from heterodyne.planning.platform import Platform

DOCUMENTATION = f"Flags as in llama.cpp build {LLAMACPP_BUILD}."
BATCH_TOKENS = 2048  # prompt tokens gathered before they are computed, in pieces of the one below
PIECE_TOKENS = 512
KV_TYPES = {Precision.INT8: "q8_0", Precision.INT4: "q4_0", Precision.BF16: "f16", Precision.FP16: "f16"}


def launch(sizing: Sizing, site: Site) -> LaunchPlan:
    """The command of one replica."""
    layout = sizing.layout
    chosen = image(layout.engine, sizing.platform, layout.accelerator.architecture)
    return LaunchPlan(
        program=("/app/llama-server" if site.is_pod else "llama-server",),
        flags=(
            Flag(words=("--model", sizing.weights.place)),
            Flag(words=("--alias", layout.model.name), because="the public name"),
            Flag(words=("--host", site.address)),
            Flag(words=("--port", str(ENGINE_PORT))),
            *_context(sizing),
            *_devices(sizing),
            *_cache(sizing),
            Flag(
                words=("--batch-size", str(min(BATCH_TOKENS, sizing.step_tokens))),
                because=sizing.because("step_tokens"),
            ),
            Flag(words=("--ubatch-size", str(min(PIECE_TOKENS, sizing.step_tokens)))),
            Flag(words=("--metrics",), because="off by default, and the gateway reads them"),
            Flag(words=("--slots",), because="which sequences are busy"),
            Flag(words=("--no-ui",), because="the gateway is the only client"),
            *([] if sizing.guessing is None else _speculative(sizing.guessing, sizing.because("guessing"))),
        ),
        environment=environment(sizing, site),
        image=chosen,
        served_name=layout.model.name,
        documentation=DOCUMENTATION,
        notes=image_notes(chosen),
    )


def _context(sizing: Sizing) -> list[Flag]:
    """Every slot its own part, or, where usual sequences are shorter than the longest, one pool for all."""
    tokens = max(sizing.sequences * sizing.usual_tokens, sizing.context_tokens)
    flags = [
        Flag(
            words=("--ctx-size", str(tokens)),
            because=f"{counted(sizing.sequences, 'sequence')} x {sizing.usual_tokens} tokens",
        ),
        Flag(words=("--parallel", str(sizing.sequences)), because=sizing.because("sequences")),
    ]
    if sizing.usual_tokens < sizing.context_tokens:
        flags.append(Flag(words=("--kv-unified",), because="long sequences borrow from short ones"))
    return flags


def _devices(sizing: Sizing) -> list[Flag]:
    if sizing.platform is Platform.CPU:
        flags = [Flag(words=("--n-gpu-layers", "0"), because="all on the processor")]
        if sizing.layout.tp > 1:
            flags.append(Flag(words=("--numa", "distribute"), because="both sockets' memory"))
        return flags
    flags = [Flag(words=("--n-gpu-layers", "all"), because="all on the accelerator")]
    if sizing.layout.tp > 1:
        flags.append(Flag(words=("--split-mode", "layer"), because="each chip holds some of the layers"))
    return flags


def _cache(sizing: Sizing) -> list[Flag]:
    kind = KV_TYPES[sizing.layout.kv_precision]
    return [
        Flag(words=("--flash-attn", "on"), because="less memory, and what a small cache needs"),
        Flag(words=("--cache-type-k", kind), because=sizing.because("kv_precision")),
        Flag(words=("--cache-type-v", kind)),
    ]


def _speculative(guessing: SpeculativeDecoding, because: str) -> list[Flag]:
    if guessing.kind is DraftKind.NGRAM or guessing.draft_weights is None:
        return [Flag(words=("--spec-type", "ngram-simple"), because=because)]
    return [
        Flag(words=("--spec-type", "draft-simple"), because=because),
        Flag(words=("--spec-draft-model", guessing.draft_weights)),
        Flag(words=("--spec-draft-n-max", str(guessing.tokens))),
    ]
