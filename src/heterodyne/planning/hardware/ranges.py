"""The range of what a choice costs and gives: by what it rests on, and what a calibration would leave of it."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.profile import Profile
from heterodyne.physics.replica.step_clock import StepClock
from heterodyne.physics.spread import Range
from heterodyne.physics.spread_catalogue import spreads_of
from heterodyne.planning.hardware.candidate import HardwareCandidate
from heterodyne.planning.hardware.caution import HIGH, LOW, MIDDLE, calibrated_slowdown, slowdown_of
from heterodyne.planning.hardware.ranking import (
    HardwareRequirements,
    RankedHardware,
    lay_out,
    promised_load,
    usd_per_million_tokens,
)
from heterodyne.planning.hardware.sustained import Shortfall


class CostRange(Struct, frozen=True, kw_only=True):
    """Dollars per million tokens where eighty in a hundred replicas would be."""

    low: float | None  # None: such a replica does not keep the promise
    high: float | None


class ChoiceRanges(Struct, frozen=True, kw_only=True):
    """Of one choice; of the times the medians."""

    cost: CostRange | None  # None: no price by the hour is known
    cost_calibrated: CostRange | None
    ttft_s: Range
    itl_s: Range


def ranges_of(
    choice: RankedHardware,
    requirements: HardwareRequirements,
    catalogue: Mapping[str, Accelerator],
    *,
    measured: Sequence[Profile] = (),
) -> ChoiceRanges:
    """What it costs where steps take as much more, or less, than predicted as they were seen to take."""
    chips = (catalogue[choice.accelerator],)
    laid_out = (one for one in lay_out(requirements, chips, measured) if isinstance(one, HardwareCandidate))
    candidate = next(one for one in laid_out if one.tp == choice.tp)
    has_experts = requirements.model.experts is not None
    spreads = spreads_of(candidate.found.split, has_experts=has_experts)
    middle = slowdown_of(candidate.found, has_experts=has_experts, quantile=MIDDLE)
    itl_s, ttft_s = (time.p50_s / candidate.slowdown for time in (choice.load.itl, choice.load.ttft))
    return ChoiceRanges(
        cost=_cost(choice, requirements, candidate, [spreads.itl.factor(one) for one in (LOW, HIGH)]),
        cost_calibrated=_cost(
            choice,
            requirements,
            candidate,
            [calibrated_slowdown(one, has_experts=has_experts, middle=middle) for one in (LOW, HIGH)],
        ),
        ttft_s=spreads.ttft.range(ttft_s),
        itl_s=spreads.itl.range(itl_s),
    )


def _cost(
    choice: RankedHardware, requirements: HardwareRequirements, candidate: HardwareCandidate, slowdowns: list[float]
) -> CostRange | None:
    if choice.price is None:
        return None
    usd_per_hour = choice.price.usd_per_hour * choice.tp
    usd: list[float | None] = []
    for slowdown in slowdowns:
        clock = StepClock(
            candidate.placement, candidate.found.profile, speculation=requirements.speculation, slowdown=slowdown
        )
        as_slow = structs.replace(candidate, clock=clock, slowdown=slowdown)
        load = promised_load(requirements, as_slow)
        rate = None if isinstance(load, Shortfall) else load.requests_per_s
        usd.append(None if rate is None else usd_per_million_tokens(requirements, rate, usd_per_hour))
    return CostRange(low=usd[0], high=usd[1])
