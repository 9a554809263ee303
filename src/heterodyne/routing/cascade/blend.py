"""What several judges say becomes one risk: a small logistic model over their risks and the prompt's margin.

A learned scorer is what FrugalGPT puts between the models of a cascade; ours reads named judges, so that a decision can
be explained by them. Its output only ranks answers: what it is worth in lost quality is settled by `risk.py`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from heterodyne.routing.cascade.judges.doubt import UNUSABLE
from heterodyne.routing.cascade.regression import DENSE_MAX, DENSE_SCALE, Floats, fit

PENALTY: Final = 3e-4
MARGIN_MAX: Final = 30.0
BLENDED_MAX: Final = 0.999  # below what is said of an unusable answer alone


class BlendedJudge(Struct, frozen=True, kw_only=True):
    """One judge in the blend: what stands for its risk where it has nothing to say, and what silence is worth."""

    name: str
    is_needed: bool  # it judged every row: an answer without it is none that the blend was fitted to
    mean: float
    deviation: float
    weight: float
    silence_mean: float
    silence_deviation: float
    silence_weight: float


class JudgeBlend(Struct, frozen=True, kw_only=True):
    """All judges, and the prompt itself."""

    judges: tuple[BlendedJudge, ...]
    prompt_mean: float
    prompt_deviation: float
    prompt_weight: float
    bias: float

    def try_risk(self, prompt_margin: float, risks: Mapping[str, float]) -> float | None:
        """One risk from 0 to 1; None where a judge is missing that was always there."""
        total = self.bias + self.prompt_weight * _scaled(prompt_margin, self.prompt_mean, self.prompt_deviation)
        for judge in self.judges:
            risk = risks.get(judge.name)
            if risk is None and judge.is_needed:
                return None
            if risk == UNUSABLE:
                return UNUSABLE
            total += judge.weight * _scaled(judge.mean if risk is None else risk, judge.mean, judge.deviation)
            is_silent = float(risk is None)
            total += judge.silence_weight * _scaled(is_silent, judge.silence_mean, judge.silence_deviation)
        return min(BLENDED_MAX, 1 / (1 + math.exp(max(-MARGIN_MAX, min(MARGIN_MAX, total)))))


def fit_blend(prompt_margins: Floats, risks: Sequence[Mapping[str, float]], labels: Floats) -> JudgeBlend:
    """A blend for the judges that judged any of these rows; labels are those of the complexity router."""
    names = sorted({name for row in risks for name in row})
    told = {name: [row[name] for row in risks if name in row] for name in names}
    means = {name: sum(values) / len(values) for name, values in told.items()}
    columns = [prompt_margins]
    for name in names:
        columns.append(np.array([row.get(name, means[name]) for row in risks]))
        columns.append(np.array([float(name not in row) for row in risks]))
    linear = fit(np.stack(columns, axis=1), (), labels, buckets=0, penalty=PENALTY)
    means_of, deviations, weights = linear.means.tolist(), linear.deviations.tolist(), linear.dense.tolist()
    return JudgeBlend(
        judges=tuple(
            BlendedJudge(
                name=name,
                is_needed=len(told[name]) == len(risks),
                mean=means_of[place],
                deviation=deviations[place],
                weight=weights[place],
                silence_mean=means_of[place + 1],
                silence_deviation=deviations[place + 1],
                silence_weight=weights[place + 1],
            )
            for place, name in zip(range(1, 2 * len(names), 2), names, strict=True)
        ),
        prompt_mean=means_of[0],
        prompt_deviation=deviations[0],
        prompt_weight=weights[0],
        bias=linear.bias,
    )


def _scaled(value: float, mean: float, deviation: float) -> float:
    return max(-DENSE_MAX, min(DENSE_MAX, (value - mean) / deviation)) * DENSE_SCALE
