"""What cascades keep and cost on rows that they have not seen."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from benchmarks.cascade.public_sets import PublicSet
from heterodyne.routing.cascade.blend import fit_blend
from heterodyne.routing.cascade.complexity import fit_linear, labels, margins_apart, prompt_table
from heterodyne.routing.cascade.curve import QualityCurve, quality_curve
from heterodyne.routing.cascade.fitted_cascade import FittedCascade
from heterodyne.routing.cascade.fitting import answer_risks, fit_cascade, prompt_risks, qualities
from heterodyne.routing.cascade.judges.doubt import UNUSABLE
from heterodyne.routing.cascade.observed_row import ObservedRow
from heterodyne.routing.cascade.price import fit_price, priced
from heterodyne.routing.cascade.regression import Floats, margins
from heterodyne.routing.cascade.report import CascadeOutcome, outcomes
from heterodyne.routing.cascade.risk import RiskBound

QUALITY_KEPT = 0.95
BOUND = RiskBound(loss_share_max=1 - QUALITY_KEPT, confidence=0.9)
SEED = 0
FOLDS = 5
RESAMPLES = 200

Places = npt.NDArray[np.int64]


class Measured(Struct, frozen=True, kw_only=True, eq=False):
    """One way to choose on the held-back rows of a set."""

    set_name: str
    way: str
    is_judged: bool
    saves_usd: bool
    rows: int
    big_share: float  # at the quality that is to be kept, threshold by the curve itself
    usd_share: float
    quality_kept_error: float  # standard error, by resamples
    outcome: CascadeOutcome  # with the threshold that `cascade fit` chose before
    fitted: FittedCascade


class Folded(Struct, frozen=True, kw_only=True, eq=False):
    """All rows of a set in turn, each scored by what others taught; thresholds are read off the curve."""

    set_name: str
    way: str
    groups: int
    rows: int
    curve: QualityCurve  # ranked to save calls
    big_share: float
    big_share_range: tuple[float, float]  # of nine in ten resamples of the rows
    usd_share: float  # ranked to save dollars
    usd_share_range: tuple[float, float]


def held_back(data: PublicSet, way: str, *, saves_usd: bool) -> Measured:
    """Fit to the development rows as the command does, and look at the others."""
    development, rest = data.parts()
    fitted = fit_cascade(development, data.cheap, data.big, BOUND, seed=SEED, saves_usd=saves_usd)
    is_judged = fitted.judged is not None
    risks = answer_risks(fitted, rest) if is_judged else prompt_risks(fitted, rest)
    curve = quality_curve(risks, qualities(rest, data.cheap), qualities(rest, data.big))
    bill = Bill.of(rest, data, is_judged=is_judged)
    shares = bill.shares_at(risks, curve)
    routed = [fitted.routed.keeps(risk) for risk in prompt_risks(fitted, rest)]
    judged = [fitted.judged.keeps(risk) for risk in risks] if fitted.judged is not None else None
    found = {one.name: one for one in outcomes(rest, data.cheap, data.big, routed=routed, judged=judged)}
    return Measured(
        set_name=data.name,
        way=way,
        is_judged=is_judged,
        saves_usd=saves_usd,
        rows=len(rest),
        big_share=shares[0],
        usd_share=shares[1],
        quality_kept_error=bill.kept_error(np.array(judged if judged is not None else routed)),
        outcome=found["cascade" if is_judged else "router"],
        fitted=fitted,
    )


class Bill(Struct, frozen=True, kw_only=True, eq=False):
    """Qualities and dollars of some rows, by model."""

    cheap_quality: Floats
    big_quality: Floats
    always_usd: Floats  # spent whoever answers
    cheap_usd: Floats  # spent where the big model is not asked
    big_usd: Floats

    @classmethod
    def of(cls, rows: Sequence[ObservedRow], data: PublicSet, *, is_judged: bool) -> "Bill":
        cheap = np.array([row.models[data.cheap].usd for row in rows])
        judging = np.array([row.judge_usd for row in rows])
        nothing = np.zeros(len(rows))
        return cls(
            cheap_quality=qualities(rows, data.cheap),
            big_quality=qualities(rows, data.big),
            always_usd=cheap + judging if is_judged else nothing,
            cheap_usd=nothing if is_judged else cheap,
            big_usd=np.array([row.models[data.big].usd for row in rows]),
        )

    def shares_at(self, risks: Floats, curve: QualityCurve) -> tuple[float, float]:
        """Big calls and dollars, as shares of asking the big model always, at the quality that is to be kept."""
        big_share = curve.big_share_at(QUALITY_KEPT)
        asked = np.zeros(len(risks), bool)
        asked[np.argsort(-risks, kind="stable")[: round(big_share * len(risks))]] = True
        spent = self.always_usd + np.where(asked, self.big_usd, self.cheap_usd)
        return big_share, float(spent.sum() / self.big_usd.sum())

    def kept_error(self, is_cheap: npt.NDArray[np.bool_]) -> float:
        """The standard error of the share of the big model's quality that is kept."""
        draw, found = np.random.default_rng(SEED), []
        quality = np.where(is_cheap, self.cheap_quality, self.big_quality)
        for _ in range(RESAMPLES):
            taken = draw.integers(0, len(quality), len(quality))
            found.append(quality[taken].sum() / self.big_quality[taken].sum())
        return float(np.std(found))

    def ranges(self, risks: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
        """The same for resampled rows: the 5th and the 95th percentile."""
        draw, found = np.random.default_rng(SEED), []
        for _ in range(RESAMPLES):
            taken = draw.integers(0, len(risks), len(risks))
            some = Bill(**{name: getattr(self, name)[taken] for name in Bill.__struct_fields__})
            curve = quality_curve(risks[taken], some.cheap_quality, some.big_quality)
            found.append(some.shares_at(risks[taken], curve))
        low, high = np.quantile(np.array(found), (0.05, 0.95), axis=0)
        return (float(low[0]), float(low[1])), (float(high[0]), float(high[1]))


def cross_validated(sets: Mapping[str, PublicSet]) -> list[Folded]:
    """All rows, each scored by what the other four fifths taught; sets differ in their judges alone."""
    data = next(iter(sets.values()))
    folds = np.array([hashlib.sha256(row.prompt.encode()).digest()[1] % FOLDS for row in data.rows])
    return [_folded(one, way, folds) for way, one in sets.items()]


def groups_left_out(data: PublicSet, way: str) -> Folded:
    """Each group is scored by a router that saw none of it."""
    names = sorted(set(data.groups), key=lambda name: hashlib.sha256(name.encode()).digest())
    fold_of = {name: place % FOLDS for place, name in enumerate(names)}
    return _folded(data, way, np.array([fold_of[name] for name in data.groups]))


def _folded(data: PublicSet, way: str, folds: Places) -> Folded:
    table = prompt_table([row.prompt for row in data.rows])
    cheap, big = qualities(data.rows, data.cheap), qualities(data.rows, data.big)
    is_judged = all(row.judges for row in data.rows)
    risks = np.zeros(len(data.rows))
    for fold in range(FOLDS):
        inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        taught = table.taken(inside.tolist())
        linear = fit_linear(taught, cheap[inside], big[inside])
        rest = table.taken(outside.tolist())
        found = margins(linear, rest.dense, rest.filled)
        risks[outside] = 1 / (1 + np.exp(found))
        if is_judged:
            apart = margins_apart(taught, cheap[inside], big[inside])
            judges = [data.rows[place].judges for place in inside.tolist()]
            blend = fit_blend(apart, judges, labels(cheap[inside], big[inside]))
            for place, margin in zip(outside.tolist(), found.tolist(), strict=True):
                risk = blend.try_risk(margin, data.rows[place].judges)
                risks[place] = UNUSABLE if risk is None else risk
    return _both_rankings(data, way, risks, is_judged=is_judged)


def _both_rankings(data: PublicSet, way: str, risks: Floats, *, is_judged: bool) -> Folded:
    bill = Bill.of(data.rows, data, is_judged=is_judged)
    price = fit_price(np.array([float(len(row.prompt)) for row in data.rows]), bill.big_usd)
    pairs = zip(risks.tolist(), data.rows, strict=True)
    weighed = np.array([priced(risk, price.relative(row.prompt)) for risk, row in pairs])
    by_calls, by_usd = (quality_curve(one, bill.cheap_quality, bill.big_quality) for one in (risks, weighed))
    calls, usd = bill.ranges(risks), bill.ranges(weighed)
    return Folded(
        set_name=data.name,
        way=way,
        groups=len(set(data.groups)),
        rows=len(risks),
        curve=by_calls,
        big_share=bill.shares_at(risks, by_calls)[0],
        big_share_range=(calls[0][0], calls[1][0]),
        usd_share=bill.shares_at(weighed, by_usd)[1],
        usd_share_range=(usd[0][1], usd[1][1]),
    )
