"""From observed rows to a fitted cascade: scores are learned on one half of the prompts, thresholds on the other.

A bound that is tested on rows which the scores have seen is none. Which half a prompt is in depends on a hash of it and
of the seed, so equal prompts are never on both sides.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
from msgspec import structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.routing.cascade.blend import JudgeBlend, fit_blend
from heterodyne.routing.cascade.complexity import fit_complexity, labels, margins_apart, prompt_table
from heterodyne.routing.cascade.fitted_cascade import CascadeCard, CascadeScorer, FittedCascade
from heterodyne.routing.cascade.judges.doubt import UNUSABLE
from heterodyne.routing.cascade.observed_row import ObservedRow
from heterodyne.routing.cascade.price import EVEN_PRICE, fit_price, priced
from heterodyne.routing.cascade.regression import Floats
from heterodyne.routing.cascade.risk import RiskBound, calibrate, threshold_steps

ROWS_MIN: Final = 100


def fit_cascade(
    rows: Sequence[ObservedRow], cheap: str, big: str, bound: RiskBound, *, seed: int, saves_usd: bool = True
) -> FittedCascade:
    """Scores and thresholds that save dollars, else calls; raises InvalidSpec where there are too few rows."""
    if len(rows) < ROWS_MIN:
        raise InvalidSpec(f"{len(rows)} rows: a cascade is fitted to {ROWS_MIN} at least; with fewer no bound holds")
    ordered = sorted(rows, key=lambda row: _hash(row.prompt, seed))
    fitted_rows = [row for row in ordered if _hash(row.prompt, seed) % 2 == 0]
    bounded_rows = [row for row in ordered if _hash(row.prompt, seed) % 2 == 1]
    if not fitted_rows or not bounded_rows:
        raise InvalidSpec("all rows have the same prompt; a cascade is fitted to prompts that differ")
    cheap_quality, big_quality = qualities(fitted_rows, cheap), qualities(fitted_rows, big)
    table = prompt_table([row.prompt for row in fitted_rows])
    apart = margins_apart(table, cheap_quality, big_quality)
    is_judged = all(row.judges for row in rows)
    judges = [row.judges for row in fitted_rows]
    blend = fit_blend(apart, judges, labels(cheap_quality, big_quality)) if is_judged else None
    lengths = np.array([float(len(row.prompt)) for row in fitted_rows])
    big_usd = np.array([row.models[big].usd for row in fitted_rows])
    price = fit_price(lengths, big_usd) if saves_usd else EVEN_PRICE
    relative = [price.relative(row.prompt) for row in fitted_rows]
    unset = calibrate(np.array([]), np.array([]), np.array([]), bound, ())
    fitted = FittedCascade(
        cheap=cheap,
        big=big,
        bound=bound,
        routed=unset,
        judged=None if blend is None else unset,
        complexity=fit_complexity(table, cheap_quality, big_quality),
        blend=blend,
        price=price,
        steps_routed=threshold_steps(_priced(1 / (1 + np.exp(apart)), relative)),
        steps_judged=() if blend is None else threshold_steps(_priced(_blended(blend, apart, judges), relative)),
        card=CascadeCard(
            rows=len(rows),
            fitted_rows=len(fitted_rows),
            bounded_rows=len(bounded_rows),
            cheap_quality=float(qualities(rows, cheap).mean()),
            big_quality=float(qualities(rows, big).mean()),
            seed=seed,
            judges=() if blend is None else tuple(judge.name for judge in blend.judges),
        ),
    )
    return bounded(fitted, bounded_rows, bound)


def bounded(fitted: FittedCascade, rows: Sequence[ObservedRow], bound: RiskBound) -> FittedCascade:
    """The same scores with thresholds for these rows, none of which the scores were learned from.

    This is how a cascade follows its traffic: of requests that were sent to both models by lot, whatever their risk.
    """
    ordered = sorted(rows, key=lambda row: _hash(row.prompt, fitted.card.seed))
    cheap_quality, big_quality = qualities(ordered, fitted.cheap), qualities(ordered, fitted.big)
    routed = calibrate(prompt_risks(fitted, ordered), cheap_quality, big_quality, bound, fitted.steps_routed)
    judged = None
    if fitted.blend is not None:
        judged = calibrate(answer_risks(fitted, ordered), cheap_quality, big_quality, bound, fitted.steps_judged)
    card = structs.replace(fitted.card, bounded_rows=len(rows))
    return structs.replace(fitted, bound=bound, routed=routed, judged=judged, card=card)


def prompt_risks(fitted: FittedCascade, rows: Sequence[ObservedRow]) -> Floats:
    """By prompt alone."""
    scorer = CascadeScorer(fitted)
    return np.array([scorer.prompt_risk(row.prompt) for row in rows])


def answer_risks(fitted: FittedCascade, rows: Sequence[ObservedRow]) -> Floats:
    """By judged answer; one that could not be judged is escalated, so it counts as unusable."""
    scorer = CascadeScorer(fitted)
    risks = (scorer.try_answer_risk(row.prompt, row.judges) for row in rows)
    return np.array([UNUSABLE if risk is None else risk for risk in risks])


def qualities(rows: Sequence[ObservedRow], model: str) -> Floats:
    """Of one model, by row."""
    return np.array([row.models[model].quality for row in rows])


def _blended(blend: JudgeBlend, apart: Floats, judges: Sequence[Mapping[str, float]]) -> Floats:
    risks = (blend.try_risk(margin, risks) for margin, risks in zip(apart.tolist(), judges, strict=True))
    return np.array([UNUSABLE if risk is None else risk for risk in risks])


def _priced(risks: Floats, relative: Sequence[float]) -> Floats:
    return np.array([priced(risk, price) for risk, price in zip(risks.tolist(), relative, strict=True)])


def _hash(prompt: str, seed: int) -> int:
    digest = blake2b(f"{seed}:{prompt}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big")
