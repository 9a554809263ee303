"""How far the step times of kinds may be from what is predicted, and what a calibration would leave of that."""

from collections.abc import Iterable

from msgspec import Struct

from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.physics.spread import Range
from heterodyne.physics.spread_catalogue import spreads_of
from heterodyne.planning.hardware.caution import HIGH, LOW, MIDDLE, calibrated_slowdown, slowdown_of
from heterodyne.planning.mix.problem import ReplicaKind
from heterodyne.planning.mix.requirements import MixRequirements


class StepRange(Struct, frozen=True, kw_only=True):
    """Times what is predicted, every step."""

    taken: float  # by the plan
    range: Range  # of eighty in a hundred replicas whose predictions rest on as much
    calibrated: Range  # about the middle of that


def step_ranges(requirements: MixRequirements, kinds: Iterable[ReplicaKind]) -> dict[str, StepRange]:
    """By kind; of idle chips and of numbers that were given there are none."""
    chips = {chip.name: chip for chip in requirements.accelerators}
    has_experts = requirements.model.experts is not None
    found: dict[str, StepRange] = {}
    for kind in kinds:
        if kind.hardware is None or kind.engine is None:
            continue
        match = profile_for(
            requirements.model,
            chips[kind.hardware],
            engine=kind.engine,
            precision=requirements.precision,
            tp=kind.chips,
            measured=requirements.measured,
        )
        middle = slowdown_of(match, has_experts=has_experts, quantile=MIDDLE)
        low, high = (calibrated_slowdown(one, has_experts=has_experts, middle=middle) for one in (LOW, HIGH))
        found[kind.name] = StepRange(
            taken=kind.slowdown,
            range=spreads_of(match.split, has_experts=has_experts).itl.range(1.0),
            calibrated=Range(low=low, high=high),
        )
    return found
