"""Whether the bound holds: over many calibrations, on rows like those of the calibration and on other ones."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from benchmarks.cascade.evaluation import SEED
from benchmarks.cascade.public_sets import PublicSet
from heterodyne.routing.cascade.fitted_cascade import FittedCascade
from heterodyne.routing.cascade.fitting import answer_risks, prompt_risks, qualities
from heterodyne.routing.cascade.regression import Floats
from heterodyne.routing.cascade.risk import BoundKind, RiskBound, calibrate, loss_share

DRAWS = 500
LOSS_SHARE_MAX = 0.05
BOUNDS = (
    RiskBound(loss_share_max=LOSS_SHARE_MAX, confidence=0.9),
    RiskBound(loss_share_max=LOSS_SHARE_MAX, confidence=0.99),
    RiskBound(loss_share_max=LOSS_SHARE_MAX, kind=BoundKind.ON_AVERAGE),
)


class BoundCheck(Struct, frozen=True, kw_only=True):
    """One kind of bound on one set, over many calibrations."""

    set_name: str
    way: str
    bound: RiskBound
    rows: int  # of each calibration
    broken_share: float  # of the calibrations, by the loss on the whole population
    broken_on_rest_share: float  # by the loss on the other half, chance of that half included
    loss_share_mean: float
    kept_share_mean: float


def check_bounds(data: PublicSet, way: str, fitted: FittedCascade, sizes: Sequence[int]) -> list[BoundCheck]:
    """Scores are learned once from development rows; calibrations are drawn from all that is left.

    What is left is taken for the whole population and drawn from with replacement, so its loss is known exactly.
    """
    _, rest = data.parts()
    risks = answer_risks(fitted, rest) if fitted.blend is not None else prompt_risks(fitted, rest)
    steps = fitted.steps_judged if fitted.blend is not None else fitted.steps_routed
    cheap, big = qualities(rest, data.cheap), qualities(rest, data.big)
    return [
        _checked((data.name, way), (risks, cheap, big), bound, steps=steps, size=size)
        for bound in BOUNDS
        for size in sizes
    ]


def _checked(
    data_and_way: tuple[str, str],
    population: tuple[Floats, Floats, Floats],
    bound: RiskBound,
    *,
    steps: Sequence[float],
    size: int,
) -> BoundCheck:
    risks, cheap, big = population
    draw = np.random.default_rng(SEED)
    broken = broken_on_rest = 0
    losses, kept = [], []
    for _ in range(DRAWS):
        taken = draw.integers(0, len(risks), size)
        chosen = calibrate(risks[taken], cheap[taken], big[taken], bound, steps).threshold
        is_kept = risks <= (-1.0 if chosen is None else chosen)
        losses.append(loss_share(is_kept, cheap, big))
        kept.append(float(is_kept.mean()))
        broken += losses[-1] > bound.loss_share_max
        order = draw.permutation(len(risks))
        first, other = order[: len(order) // 2], order[len(order) // 2 :]
        chosen = calibrate(risks[first], cheap[first], big[first], bound, steps).threshold
        is_kept = risks[other] <= (-1.0 if chosen is None else chosen)
        broken_on_rest += loss_share(is_kept, cheap[other], big[other]) > bound.loss_share_max
    return BoundCheck(
        set_name=data_and_way[0],
        way=data_and_way[1],
        bound=bound,
        rows=size,
        broken_share=broken / DRAWS,
        broken_on_rest_share=broken_on_rest / DRAWS,
        loss_share_mean=float(np.mean(losses)),
        kept_share_mean=float(np.mean(kept)),
    )


class ShiftCheck(Struct, frozen=True, kw_only=True):
    """Calibrated on some groups, used on others: what no bound promises."""

    set_name: str
    trials: int
    broken_share: float
    loss_share_mean: float
    loss_share_worst: float


def check_shift(data: PublicSet, fitted: FittedCascade, trials: int = 200) -> ShiftCheck:
    """Groups of held-back rows are divided by lot into those that calibrate and those that are served."""
    places = [place for place, row in enumerate(data.rows) if data.is_held_back(row)]
    rest = [data.rows[place] for place in places]
    groups = np.array([data.groups[place] for place in places])
    risks, cheap, big = prompt_risks(fitted, rest), qualities(rest, data.cheap), qualities(rest, data.big)
    names, draw = sorted(set(groups.tolist())), np.random.default_rng(SEED)
    bound = RiskBound(loss_share_max=LOSS_SHARE_MAX)
    losses = []
    for _ in range(trials):
        first = np.isin(groups, draw.permutation(names)[: len(names) // 2])
        order = draw.permutation(np.flatnonzero(first))
        chosen = calibrate(risks[order], cheap[order], big[order], bound, fitted.steps_routed).threshold
        served = ~first
        losses.append(loss_share(risks[served] <= (-1 if chosen is None else chosen), cheap[served], big[served]))
    return ShiftCheck(
        set_name=data.name,
        trials=trials,
        broken_share=float(np.mean(np.array(losses) > LOSS_SHARE_MAX)),
        loss_share_mean=float(np.mean(losses)),
        loss_share_worst=float(np.max(losses)),
    )
