"""What a score is worth in each class of prompts, and down to which score answers are served.

Scores are cut into steps. For each class and step it is known how many requests came and how many of the compared
answers were wrong; both fade, so that it follows the traffic. A threshold for each class falls out of one limit on the
chance to be wrong: the same everywhere, because that serves most for the same number of wrong answers.
"""

import math
from typing import Final

from heterodyne.caching.semantic.error_account import ErrorBound

STEPS: Final = 48
_LOGIT_SPAN: Final = 6.0  # scores beyond it are in the outermost steps
_PRIOR_LABELS: Final = 12.0  # how many compared answers the score itself is worth in each step


class ScoreCalibration:
    """Per class: what came, what was compared, what of it was wrong. One per tenant."""

    def __init__(self, *, memory_labels: float) -> None:
        self._growth = math.exp(1 / memory_labels)
        self._weight = 1.0  # of what comes now; it grows instead of everything else fading
        self._requests = 0.0
        self._came: dict[str, list[float]] = {}
        self._compared: dict[str, list[float]] = {}
        self._wrong: dict[str, list[float]] = {}

    def count_request(self) -> None:
        """One more request, with a candidate or without."""
        self._weight *= self._growth
        self._requests += self._weight
        if self._weight > 1e9:
            self._rescale()

    def count_candidate(self, prompt_class: str, logit: float) -> None:
        """A request has a candidate of this score."""
        self._of(self._came, prompt_class)[step_of(logit)] += self._weight

    def learn(self, prompt_class: str, logit: float, is_same: bool) -> None:
        """What came of a candidate of this score."""
        step = step_of(logit)
        self._of(self._compared, prompt_class)[step] += self._weight
        if not is_same:
            self._of(self._wrong, prompt_class)[step] += self._weight

    def wrong_chance(self, prompt_class: str, logit: float) -> float:
        """The chance that a candidate of this score is wrong."""
        step = step_of(logit)
        return self._chance(prompt_class, step)

    def limit(self, bound: ErrorBound, scale: float) -> float:
        """The greatest chance to be wrong that may be served, for wrong answers to be so much of what is allowed."""
        steps = sorted(
            (self._chance(prompt_class, step), came)
            for prompt_class, row in self._came.items()
            for step, came in enumerate(row)
            if came > 0
        )
        wrong = served = limit = 0.0
        for chance, came in steps:
            wrong += chance * came
            served += came
            if wrong > scale * bound.allowed(self._requests, served):
                break
            limit = chance
        return limit

    def _chance(self, prompt_class: str, step: int) -> float:
        compared = self._of(self._compared, prompt_class)[step]
        wrong = self._of(self._wrong, prompt_class)[step]
        prior = _PRIOR_LABELS * self._weight
        return (wrong + prior * _CHANCE_AT[step]) / (compared + prior)

    def _of(self, rows: dict[str, list[float]], prompt_class: str) -> list[float]:
        if prompt_class not in rows:
            rows[prompt_class] = [0.0] * STEPS
        return rows[prompt_class]

    def _rescale(self) -> None:
        for rows in (self._came, self._compared, self._wrong):
            for row in rows.values():
                row[:] = [value / self._weight for value in row]
        self._requests /= self._weight
        self._weight = 1.0


def step_of(logit: float) -> int:
    """The step of a score."""
    place = int((logit + _LOGIT_SPAN) * (STEPS / (2 * _LOGIT_SPAN)))
    return min(max(place, 0), STEPS - 1)


# What the score itself says in the middle of each step.
_CHANCE_AT: Final = [
    1 / (1 + math.exp((step + 0.5) * (2 * _LOGIT_SPAN / STEPS) - _LOGIT_SPAN)) for step in range(STEPS)
]
