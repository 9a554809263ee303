"""The complexity router: how a cheap model is likely to do beside a big one, from the prompt alone.

The score is the share of comparisons that the cheap model would win, ties counting half, so one minus twice the score
is the quality that asking the cheap one is expected to lose. On the public sets of docs/cascade-quality.md that label
ranks prompts better than "the cheap one is right", which also finds prompts that neither model can do.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from heterodyne.routing.cascade import features
from heterodyne.routing.cascade.regression import DENSE_MAX, DENSE_SCALE, Floats, LinearModel, fit, margins

PENALTY: Final = 1e-3
MARGIN_MAX: Final = 30.0


class FeaturesMismatch(ValueError):
    """The weights were fitted to features that this version does not compute."""


class ComplexityWeights(Struct, frozen=True, kw_only=True):
    """A fitted router as it is stored: small numbers as they are, the table as 16-bit floats."""

    features_version: str
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    dense: tuple[float, ...]
    bias: float
    table: bytes  # half precision changes a score in its fourth digit


class ComplexityRouter:
    """Scores prompts, one at a time and in plain Python: for a few hundred words numpy takes longer to begin."""

    def __init__(self, weights: ComplexityWeights) -> None:
        if weights.features_version != features.VERSION:
            raise FeaturesMismatch(
                f"features of version {weights.features_version}, this code computes {features.VERSION}; fit again"
            )
        if len(weights.table) != 2 * features.BUCKETS or len(weights.dense) != len(features.SURFACE):
            raise FeaturesMismatch("weights of another size than the features; fit again")
        self.weights = weights
        self._table: list[float] = np.frombuffer(weights.table, np.float16).astype(np.float64).tolist()
        self._dense = tuple(zip(weights.means, weights.deviations, weights.dense, strict=True))

    def margin(self, prompt: str) -> float:
        """The logarithm of the odds that the cheap model does no worse."""
        total = self.weights.bias
        for value, (mean, deviation, weight) in zip(features.surface(prompt), self._dense, strict=True):
            standard = (value - mean) / deviation
            total += max(-DENSE_MAX, min(DENSE_MAX, standard)) * DENSE_SCALE * weight
        filled = features.hashed(prompt)
        if filled:
            table = self._table
            total += sum([table[place] for place in filled]) / math.sqrt(len(filled))
        return max(-MARGIN_MAX, min(MARGIN_MAX, total))

    def score(self, prompt: str) -> float:
        """How likely the cheap model does as well, from 0 to 1."""
        return 1 / (1 + math.exp(-self.margin(prompt)))

    def risk(self, prompt: str) -> float:
        """How likely it does not."""
        return 1 / (1 + math.exp(self.margin(prompt)))


class PromptTable(Struct, frozen=True, kw_only=True, eq=False):
    """The features of many prompts, computed once for several fits."""

    dense: Floats
    filled: tuple[list[int], ...]

    def taken(self, rows: Sequence[int]) -> "PromptTable":
        """Some of the prompts."""
        return PromptTable(dense=self.dense[list(rows)], filled=tuple(self.filled[row] for row in rows))


def prompt_table(prompts: Sequence[str]) -> PromptTable:
    """The features of these prompts."""
    dense = np.array([features.surface(prompt) for prompt in prompts]).reshape(len(prompts), len(features.SURFACE))
    return PromptTable(dense=dense, filled=tuple(features.hashed(prompt) for prompt in prompts))


def labels(cheap_quality: Floats, big_quality: Floats) -> Floats:
    """What the score estimates, by prompt."""
    return (1 + cheap_quality - big_quality) / 2


def fit_linear(table: PromptTable, cheap_quality: Floats, big_quality: Floats, penalty: float = PENALTY) -> LinearModel:
    """A router in full precision, for whoever fits several and compares them."""
    return fit(table.dense, table.filled, labels(cheap_quality, big_quality), buckets=features.BUCKETS, penalty=penalty)


def fit_complexity(table: PromptTable, cheap_quality: Floats, big_quality: Floats) -> ComplexityWeights:
    """A router as it is stored."""
    linear = fit_linear(table, cheap_quality, big_quality)
    return ComplexityWeights(
        features_version=features.VERSION,
        means=tuple(linear.means.tolist()),
        deviations=tuple(linear.deviations.tolist()),
        dense=tuple(linear.dense.tolist()),
        bias=linear.bias,
        table=linear.table.astype(np.float16).tobytes(),
    )


def margins_apart(table: PromptTable, cheap_quality: Floats, big_quality: Floats, folds: int = 4) -> Floats:
    """The margin of each prompt by a router that was fitted without it: what new prompts would get.

    Rows go to folds by their place, so they must not be sorted by anything that matters.
    """
    fold = np.arange(len(cheap_quality)) % folds
    found = np.zeros(len(cheap_quality))
    for one in range(folds):
        inside, outside = np.flatnonzero(fold != one), np.flatnonzero(fold == one)
        linear = fit_linear(table.taken(inside.tolist()), cheap_quality[inside], big_quality[inside])
        left_out = table.taken(outside.tolist())
        found[outside] = margins(linear, left_out.dense, left_out.filled)
    return found
