"""What the class's time between tokens decides: how experts are spread, how many sequences run, how long a step is."""

from math import inf

from msgspec import Struct

from heterodyne.domain.counted import counted
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import Layout
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import Placement, place
from heterodyne.physics.profile import Profile
from heterodyne.physics.serving import Load, ReplicaSpec, Slo, goodput
from heterodyne.physics.step_time import decode_step_s, prefill_s
from heterodyne.physics.work import work
from heterodyne.planning.launch.platform import PADDED, Platform
from heterodyne.planning.workload_class import WorkloadClass

STEP_TOKENS_MIN = 256  # smaller steps spend their time on launching kernels
STEP_TOKENS_MAX = 8192  # the memory budgets of the engines count the activations of so many


class DecodePace(Struct, frozen=True, kw_only=True):
    """A placement that serves a class, and the times it is held to."""

    placement: Placement
    profile: Profile
    workload: WorkloadClass
    slo: Slo
    context: float  # tokens a sequence holds in the middle of its life

    def step_s(self, sequences: int) -> float:
        """One token more for every sequence."""
        return decode_step_s(self.placement, self.profile.prices, batch=sequences, context=self.context)


def choose_parallelism(
    layout: Layout, platform: Platform, profile: Profile, *, batch: int, context: float
) -> Parallelism:
    """Whole experts dealt to the chips where that makes a step faster, else every expert cut across them."""
    tp, experts = layout.tp, layout.model.experts
    if layout.engine is EngineKind.LLAMACPP:
        return Parallelism(pp=tp)  # it gives each chip some of the layers
    cut = Parallelism(tp=tp)
    if experts is None or tp == 1 or experts.count % tp or platform not in (Platform.CUDA, Platform.ROCM):
        return cut
    dealt = Parallelism(tp=tp, ep=tp)
    return min(
        cut, dealt, key=lambda one: decode_step_s(placed(layout, one), profile.prices, batch=batch, context=context)
    )


def placed(layout: Layout, parallelism: Parallelism) -> Placement:
    """A layout's model on its chips."""
    spread = work(layout.model, precision=layout.precision, kv_precision=layout.kv_precision)
    return place(spread, accelerator=layout.accelerator, parallelism=parallelism)


def choose_sequences(
    pace: DecodePace, usual: Load, *, held: int, held_because: str, platform: Platform
) -> tuple[int, str]:
    """What memory holds, or fewer where more would break the class's time between tokens."""
    sequences, because = _within_budget(pace, usual, held, held_because, STEP_TOKENS_MAX)
    step_tokens, _ = choose_step_tokens(pace, sequences=sequences, guessed_tokens=0)
    # Prompts in smaller pieces take longer altogether, so the first count may be a few too many.
    sequences, because = _within_budget(pace, usual, held, held_because, step_tokens)
    if platform in PADDED and sequences & (sequences - 1):
        sequences = 1 << (sequences.bit_length() - 1)
        because += "; a power of two, as batches are padded to one"
    return sequences, because


def choose_step_tokens(pace: DecodePace, *, sequences: int, guessed_tokens: int) -> tuple[int, str]:
    """Tokens of one step: as many as fit beside a full decode step in the budget, or many where no user watches."""
    least = max(STEP_TOKENS_MIN, 1 << (sequences * (1 + guessed_tokens) - 1).bit_length())
    if pace.workload is not WorkloadClass.INTERACTIVE:
        return max(least, STEP_TOKENS_MAX), "nobody watches the tokens come, so prompts go in large pieces"
    decode_s, tokens = pace.step_s(sequences), STEP_TOKENS_MAX
    while tokens > least and decode_s + _piece_s(pace, tokens) > pace.slo.itl_s:
        tokens //= 2
    tokens = max(tokens, least)
    step_s = decode_s + _piece_s(pace, tokens)
    because = f"a step of {counted(sequences, 'sequence')} and such a piece of a prompt takes {step_s * 1000:.0f} ms"
    if step_s > pace.slo.itl_s:
        because += f", over the {pace.slo.itl_s * 1000:.0f} ms of the class; smaller pieces would waste the chip"
    return tokens, because


def _within_budget(pace: DecodePace, usual: Load, held: int, held_because: str, chunk_tokens: int) -> tuple[int, str]:
    # A wait for the first token is not shortened by turning sequences away, so only the other budget counts.
    most = goodput(
        ReplicaSpec(placement=pace.placement, profile=pace.profile, chunk_tokens=chunk_tokens),
        Slo(ttft_s=inf, itl_s=pace.slo.itl_s),
        prompt_tokens=usual.prompt_tokens,
        output_tokens=usual.output_tokens,
    )
    within = f"{pace.slo.itl_s * 1000:.0f} ms a token"
    if most.concurrency < 1:
        return 1, f"one sequence alone takes longer than {within}; more would be slower still"
    if most.concurrency < held:
        return most.concurrency, f"more would take longer than {within}; memory would hold {held}"
    return held, f"{held_because}; {within} would allow {most.concurrency}"


def _piece_s(pace: DecodePace, tokens: int) -> float:
    return prefill_s(pace.placement, pace.profile.prices, tokens=tokens, chunk_tokens=tokens)
