"""Which loads to measure on a live replica: a few, spread over batch and context, within its memory and the time given.

Points are taken one by one, each the farthest from those before it in the logarithms of batch and prompt, so any
number of them covers corners and middle; what does not fit or takes too long is no candidate.
"""

from collections.abc import Iterator
from math import log2

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import Demand, Layout, memory_budget, ready_slots
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import place
from heterodyne.physics.profile import Profile
from heterodyne.physics.serving import Load, ReplicaSpec, serve
from heterodyne.physics.work import work

POINTS_MIN = 6  # fewer settle too little
PROMPT_TOKENS_MIN = 64
CONTEXT_TOKENS_MAX = 16_384  # by default
CONCURRENCY_MAX = 64
LLAMACPP_SLOTS = 4  # that a llama.cpp server opens by default
OUTPUT_TOKENS = (256, 128, 64, 32, 16)
ANSWERS_MIN = 3
# Before the answers that count, those that all start together; after them, those in flight that are cut off.
LIVES_ASIDE = 1.5
# One request alone may take this share of a point's time: the others of its kind are busier.
ALONE_SHARE = 0.4


class CalibrationPoint(Struct, frozen=True, kw_only=True):
    """One load to measure; `output_tokens` is the mean of answers of different lengths."""

    concurrency: int
    prompt_tokens: int
    output_tokens: int

    @property
    def answers(self) -> int:
        """How many answers are enough."""
        return max(ANSWERS_MIN, self.concurrency)


class CalibrationLimits(Struct, frozen=True, kw_only=True):
    """How much may be asked of the replica."""

    points: int = 12
    budget_s: float = 300.0  # for all points together
    context_tokens_max: int | None = None  # None: what model and memory allow, within reason
    concurrency_max: int | None = None  # None: what memory and engine allow, within reason

    @property
    def point_s(self) -> float:
        """The time of one point."""
        return self.budget_s / self.points


def choose_points(layout: Layout, profile: Profile, limits: CalibrationLimits) -> tuple[CalibrationPoint, ...]:
    """The points, single requests first and quick ones before slow ones; the profile tells how long each takes."""
    _check(limits)
    if memory_budget(layout, Demand(context_tokens=PROMPT_TOKENS_MIN)).concurrency_max < 1:
        raise InvalidSpec(
            f"{layout.model.name} in {layout.precision} does not fit on {layout.tp} x {layout.accelerator.name} by our "
            "count, so the replica is something else; check --model, --precision, --tp and --hardware"
        )
    replica = replica_of(layout, profile)
    candidates = list(_candidates(layout, replica, limits))
    if len(candidates) < POINTS_MIN:
        raise InvalidSpec(
            f"points: {len(candidates)} different loads can be measured in {limits.point_s:.0f} s each and a fit needs "
            f"{POINTS_MIN}; give more time (--budget-s), or wider limits (--context-max, --concurrency-max)"
        )
    chosen = [candidates[0]]
    while len(chosen) < min(limits.points, len(candidates)):
        chosen.append(max(candidates, key=lambda one: min(_distance(one, other) for other in chosen)))
    # One request alone shows a step without prompts between, which no other load does: those may not fall to the clock.
    return tuple(sorted(chosen, key=lambda point: (point.concurrency > 1, expected_s(replica, point))))


def expected_s(replica: ReplicaSpec, point: CalibrationPoint) -> float:
    """How long a point takes at the replica's prices."""
    served = serve(replica, load_of(point))
    lives = LIVES_ASIDE + point.answers / point.concurrency
    return lives * (served.ttft_s + served.itl_s * point.output_tokens)


def replica_of(layout: Layout, profile: Profile) -> ReplicaSpec:
    """The replica of a layout; its memory is looked at when points are chosen, so that here it never binds."""
    demands = work(layout.model, precision=layout.precision, kv_precision=layout.kv_precision)
    placement = place(demands, accelerator=layout.accelerator, parallelism=Parallelism(tp=layout.tp))
    return ReplicaSpec(placement=placement, profile=profile)


def load_of(point: CalibrationPoint) -> Load:
    """The load as it was asked for."""
    return Load(concurrency=point.concurrency, prompt_tokens=point.prompt_tokens, output_tokens=point.output_tokens)


def _check(limits: CalibrationLimits) -> None:
    given = {
        "points": limits.points,
        "context-max": limits.context_tokens_max,
        "concurrency-max": limits.concurrency_max,
    }
    for name, number in given.items():
        if number is not None and number < 1:
            raise InvalidSpec(f"{name}: {number} is not a whole number above zero")
    if not limits.budget_s > 0:
        raise InvalidSpec(f"budget-s: {limits.budget_s:g} is not above zero")


def _candidates(layout: Layout, replica: ReplicaSpec, limits: CalibrationLimits) -> Iterator[CalibrationPoint]:
    """From one short prompt alone to the most and the longest."""
    context_max = min(layout.model.context_tokens, limits.context_tokens_max or CONTEXT_TOKENS_MAX)
    output = _output_tokens(replica, limits, context_max)
    # Answers are up to half as long again as their mean, and a chat template adds a few words to the prompt.
    longest = context_max - output * 3 // 2 - PROMPT_TOKENS_MIN
    engine_max = LLAMACPP_SLOTS if layout.engine is EngineKind.LLAMACPP else ready_slots(layout)
    concurrency_max = limits.concurrency_max or min(CONCURRENCY_MAX, engine_max)
    for prompt in _growing(min(PROMPT_TOKENS_MIN, max(1, longest)), longest):
        room = memory_budget(layout, Demand(context_tokens=prompt + output * 3 // 2)).concurrency_max
        for concurrency in _growing(1, min(concurrency_max, room)):
            point = CalibrationPoint(concurrency=concurrency, prompt_tokens=prompt, output_tokens=output)
            if expected_s(replica, point) <= limits.point_s:
                yield point


def _output_tokens(replica: ReplicaSpec, limits: CalibrationLimits, context_max: int) -> int:
    """The longest answer that leaves time for busier points and room for prompts."""
    for tokens in OUTPUT_TOKENS:
        alone = CalibrationPoint(concurrency=1, prompt_tokens=PROMPT_TOKENS_MIN, output_tokens=tokens)
        if tokens * 8 <= context_max and expected_s(replica, alone) <= limits.point_s * ALONE_SHARE:
            return tokens
    return OUTPUT_TOKENS[-1]


def _growing(first: int, last: int) -> Iterator[int]:
    """Whole numbers from the first to the last, two to a doubling."""
    number = first
    while number < last:
        yield number
        number = max(number + 1, round(number * 2**0.5))
    if last >= first:
        yield last


def _distance(one: CalibrationPoint, other: CalibrationPoint) -> float:
    """Squared; a doubling of either counts the same."""
    batch = log2(one.concurrency / other.concurrency)
    prompt = log2(one.prompt_tokens / other.prompt_tokens)
    return batch * batch + prompt * prompt
