"""What the class's time between tokens decides: how experts are spread, how many sequences run, how long a step is."""

from math import inf

from msgspec import Struct, structs

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import Layout
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import Placement, place
from heterodyne.physics.profile import Profile
from heterodyne.physics.replica.job import Scheduling
from heterodyne.physics.replica.step_clock import StepClock
from heterodyne.physics.serving import Load, ReplicaSpec, Slo, goodput
from heterodyne.physics.step_time import decode_step_s
from heterodyne.physics.work import work
from heterodyne.planning.hardware.sustained import SustainedLoad, sustained_load
from heterodyne.planning.platform import PADDED, Platform
from heterodyne.planning.traffic.request_shape import RequestShape
from heterodyne.planning.workload_class import WorkloadClass

STEP_TOKENS_MIN = 256  # smaller steps spend their time on launching kernels
STEP_ENOUGH = 0.97  # of what steps of any size would carry
BLOCK_TOKENS = 16
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
    if platform in PADDED and sequences & (sequences - 1):
        sequences = 1 << (sequences.bit_length() - 1)
        because += "; a power of two, as batches are padded to one"
    return sequences, because


def choose_step_tokens(
    pace: DecodePace, usual: Load, *, sequences: int, held_tokens: int, guessed_tokens: int, share: float
) -> tuple[int, str, SustainedLoad | None]:
    """Tokens of one step, and what a replica then carries: no more of them than that takes.

    The fewer there are, the less a long prompt holds up the tokens of others, and the slower prompts go.
    """
    least = max(STEP_TOKENS_MIN, 1 << (sequences * (1 + guessed_tokens) - 1).bit_length())
    sizes = [least]
    while sizes[-1] < STEP_TOKENS_MAX:
        sizes.append(sizes[-1] * 2)
    shape = RequestShape(prompt_tokens=usual.prompt_tokens, output_tokens=usual.output_tokens)
    scheduling = Scheduling(slots=sequences, step_tokens=least, blocks=held_tokens // BLOCK_TOKENS)
    carried = {
        tokens: _carried(pace, shape, structs.replace(scheduling, step_tokens=tokens), share) for tokens in sizes
    }
    rates = {tokens: load.requests_per_s for tokens, load in carried.items() if load is not None}
    if not rates:
        return sizes[-1], "prompts go as fast as they can, as the promise is beyond this replica", None
    enough = max(rates.values()) * STEP_ENOUGH
    tokens = next(size for size in sizes if rates.get(size, 0.0) >= enough)
    because = f"carries {rates[tokens]:.3g} usual requests/s within the promise"
    if tokens > least:
        because += f"; {least} would carry {rates.get(least, 0.0):.3g}"
    return tokens, because, carried[tokens]


def _carried(pace: DecodePace, shape: RequestShape, scheduling: Scheduling, share: float) -> SustainedLoad | None:
    load = sustained_load(StepClock(pace.placement, pace.profile), scheduling, shape, pace.slo, share=share)
    return load if isinstance(load, SustainedLoad) else None


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
