"""Whether guessing tokens ahead would shorten the time between tokens, and what guesses."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.counted import counted
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.model_shapes import published_id
from heterodyne.physics.step_time import Speculation, inter_token_s
from heterodyne.physics.weights import weight_bytes
from heterodyne.planning.launch.latency_choice import DecodePace
from heterodyne.planning.launch.requirements import LaunchRequirements
from heterodyne.planning.platform import Platform
from heterodyne.planning.workload_class import WorkloadClass

TOKENS = 4
NGRAM_ACCEPTANCE = 0.4  # assumed: answers that repeat their prompts, as edits, summaries and quotations do
DRAFT_ACCEPTANCE = 0.7  # assumed: a small sibling of the same family
GAIN_MIN = 1.1  # less would drown in what the assumption is wrong by
SEQUENCES_MAX = 32  # beyond, checking one's guesses takes arithmetic from the others' prompts
_PLATFORMS = (Platform.CUDA, Platform.ROCM)  # where the engines document it for all models


class DraftKind(StrEnum):
    """What proposes the tokens."""

    NGRAM = "ngram"
    DRAFT = "draft"


class SpeculativeDecoding(Struct, frozen=True, kw_only=True):
    """Speculative decoding as it is switched on."""

    kind: DraftKind
    tokens: int
    draft_weights: str | None = None  # None: no draft model


def choose_speculation(
    requirements: LaunchRequirements,
    engine: EngineKind,
    platform: Platform,
    pace: DecodePace,
    *,
    sequences: int,
) -> tuple[SpeculativeDecoding | None, str]:
    """Guessing for people who wait, where the batch leaves arithmetic free; None and the reason otherwise."""
    if requirements.workload is not WorkloadClass.INTERACTIVE:
        return None, "full batches leave no arithmetic free to check guesses with"
    if platform not in _PLATFORMS and engine is not EngineKind.LLAMACPP:
        return None, f"{engine} does not document it for every model on {platform}"
    if sequences > SEQUENCES_MAX:
        return None, f"it pays for a few sequences at once, not for {sequences}"
    speculation = Speculation(draft_tokens=TOKENS, acceptance=NGRAM_ACCEPTANCE, draft_share=0.0)
    if requirements.draft is not None:
        share = weight_bytes(requirements.draft, requirements.draft.checkpoint_precision) / weight_bytes(
            requirements.model, requirements.precision
        )
        speculation = Speculation(draft_tokens=TOKENS, acceptance=DRAFT_ACCEPTANCE, draft_share=share)
    guessed_s = inter_token_s(
        pace.placement, pace.profile.prices, batch=sequences, context=pace.context, speculation=speculation
    )
    gain = pace.step_s(sequences) / guessed_s
    held = f"if {speculation.acceptance:.0%} of guesses hold"
    said = f"at {counted(sequences, 'sequence')} tokens would come {gain:.2f} x as fast {held}"
    if gain < GAIN_MIN:
        return None, f"{said}, too little"
    if requirements.draft is None:
        return SpeculativeDecoding(kind=DraftKind.NGRAM, tokens=TOKENS), said
    place = requirements.draft_weights or published_id(requirements.draft.name) or requirements.draft.name
    return SpeculativeDecoding(kind=DraftKind.DRAFT, tokens=TOKENS, draft_weights=place), said
