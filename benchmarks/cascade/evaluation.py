"""What cascades keep and cost on rows that they have not seen."""

import hashlib
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from benchmarks.cascade.public_sets import PublicSet
from heterodyne.routing.cascade.complexity import PromptTable, fit_linear, prompt_table
from heterodyne.routing.cascade.curve import QualityCurve, quality_curve
from heterodyne.routing.cascade.fitted_cascade import FittedCascade
from heterodyne.routing.cascade.fitting import answer_risks, fit_cascade, prompt_risks, qualities
from heterodyne.routing.cascade.observed_row import ObservedRow
from heterodyne.routing.cascade.regression import Floats, margins
from heterodyne.routing.cascade.report import CascadeOutcome, outcomes
from heterodyne.routing.cascade.risk import RiskBound

QUALITY_KEPT = 0.95
BOUND = RiskBound(loss_share_max=1 - QUALITY_KEPT, confidence=0.9)
SEED = 0
FOLDS = 5


class Measured(Struct, frozen=True, kw_only=True, eq=False):
    """One way to choose on the held-back rows of a set."""

    set_name: str
    way: str
    is_judged: bool
    saves_usd: bool
    rows: int
    curve: QualityCurve
    usd_share: float  # at the quality that is to be kept, threshold by the curve itself
    outcome: CascadeOutcome  # with the threshold that `cascade fit` chose before
    fitted: FittedCascade


class LeftOut(Struct, frozen=True, kw_only=True, eq=False):
    """Whole groups that were not trained on, all of the set in turn."""

    set_name: str
    groups: int
    curve: QualityCurve
    usd_share: float


def held_back(data: PublicSet, way: str, *, saves_usd: bool) -> Measured:
    """Fit to the development rows as the command does, and look at the others."""
    development, rest = data.parts()
    fitted = fit_cascade(development, data.cheap, data.big, BOUND, seed=SEED, saves_usd=saves_usd)
    is_judged = fitted.judged is not None
    risks = answer_risks(fitted, rest) if is_judged else prompt_risks(fitted, rest)
    curve = quality_curve(risks, qualities(rest, data.cheap), qualities(rest, data.big))
    routed = [fitted.routed.keeps(risk) for risk in prompt_risks(fitted, rest)]
    judged = [fitted.judged.keeps(risk) for risk in risks] if fitted.judged is not None else None
    found = {one.name: one for one in outcomes(rest, data.cheap, data.big, routed=routed, judged=judged)}
    return Measured(
        set_name=data.name,
        way=way,
        is_judged=is_judged,
        saves_usd=saves_usd,
        rows=len(rest),
        curve=curve,
        usd_share=usd_share(rest, data, risks, curve.big_share_at(QUALITY_KEPT), is_judged=is_judged),
        outcome=found["cascade" if is_judged else "router"],
        fitted=fitted,
    )


def usd_share(
    rows: Sequence[ObservedRow], data: PublicSet, risks: Floats, big_share: float, *, is_judged: bool
) -> float:
    """What asking the big model for this share of the riskiest costs, as a share of asking it always."""
    asked = np.zeros(len(rows), bool)
    asked[np.argsort(-risks, kind="stable")[: round(big_share * len(rows))]] = True
    big = np.array([row.models[data.big].usd for row in rows])
    cheap = np.array([row.models[data.cheap].usd for row in rows])
    judging = np.array([row.judge_usd for row in rows])
    spent = np.where(asked, big, 0) + (cheap + judging if is_judged else np.where(asked, 0, cheap))
    return float(spent.sum() / big.sum())


def groups_left_out(data: PublicSet) -> LeftOut:
    """Each group is scored by a router that saw none of it."""
    table = prompt_table([row.prompt for row in data.rows])
    names = sorted(set(data.groups), key=lambda name: hashlib.sha256(name.encode()).digest())
    fold_of = {name: place % FOLDS for place, name in enumerate(names)}
    folds = np.array([fold_of[name] for name in data.groups])
    cheap, big = qualities(data.rows, data.cheap), qualities(data.rows, data.big)
    risks = np.zeros(len(data.rows))
    for fold in range(FOLDS):
        inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        risks[outside] = -scored(table, cheap, big, inside, outside)
    curve = quality_curve(risks, cheap, big)
    share = usd_share(data.rows, data, risks, curve.big_share_at(QUALITY_KEPT), is_judged=False)
    return LeftOut(set_name=data.name, groups=len(names), curve=curve, usd_share=share)


def scored(table: PromptTable, cheap: Floats, big: Floats, inside: "np.ndarray", outside: "np.ndarray") -> Floats:
    """Margins of the rows outside by a router of the rows inside."""
    linear = fit_linear(table.taken(inside.tolist()), cheap[inside], big[inside])
    rest = table.taken(outside.tolist())
    return margins(linear, rest.dense, rest.filled)
