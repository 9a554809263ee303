"""How much a text looks like prompt injection or a jailbreak, from 0 to 1: a linear model over hashed features.

It reads text alone: it does not know who wrote which part of it. Which data it learned from, how well it does on
sources that it never saw, and where it fails is in docs/injection-accuracy.md.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from heterodyne.safety.finding import Finding
from heterodyne.safety.injection import features, heuristics, surface, windows
from heterodyne.safety.injection.weights import InjectionWeights, released

RULE: Final = "injection_classifier"


def score(text: str) -> float:
    """The score of the window that looks worst."""
    return worst(text, heuristics.find(text), released()).score


def find(text: str, threshold: float | None = None) -> tuple[Finding, ...]:
    """The worst window, where its score is over a threshold; None: the one of the weights."""
    model = released()
    found = worst(text, heuristics.find(text), model)
    return (found,) if found.score > (model.threshold if threshold is None else threshold) else ()


def worst(text: str, findings: Sequence[Finding], model: InjectionWeights) -> Finding:
    """The window with the highest score; `findings` are those of the rules, in order."""
    best = Finding(start=0, end=0, rule=RULE, score=0.0)
    for start, end in windows.spans(len(text), (found.start for found in findings)):
        inside = [found for found in findings if found.start < end and found.end > start]
        logit = _logit(text[start:end], inside, model)
        probability = 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
        if probability > best.score:
            best = Finding(start=start, end=end, rule=RULE, score=probability)
    return best


def _logit(window: str, findings: Sequence[Finding], model: InjectionWeights) -> float:
    data = features.normalised(window)
    filled = _once(features.buckets(data), len(model.table))
    outside = np.array(surface.features(window, findings, data), np.float32)
    total = float(model.table[filled].sum(dtype=np.float64)) / math.sqrt(max(1, len(filled)))
    return total + float((model.surface * outside).sum(dtype=np.float64)) + model.bias


def _once(filled: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Each bucket once, so that repeating something dilutes nothing: the last who writes its place there is kept."""
    places = np.arange(len(filled), dtype=np.int16)  # a window has fewer features than that counts
    writers = np.empty(count, np.int16)
    writers[filled] = places
    once: npt.NDArray[np.int64] = filled[writers[filled] == places]
    return once
