"""From samples to a model with its threshold: windows, cross-fitting, rounding to what the package ships."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from benchmarks.safety.injection import regression
from benchmarks.safety.injection.regression import Fitted, Floats, Rows
from benchmarks.safety.injection.sources import Sample
from heterodyne.safety.injection import features, heuristics, surface, windows

BUCKETS = 2 * features.BUCKETS
PENALTY = 3e-5
ROWS_MIN = 3
WINDOWS_PER_TEXT = 4  # in training: a long text is one text
ATTACKS_WEIGH = 0.5  # all attacks together, times all benign texts
FALSE_POSITIVES = 0.01
CALIBRATING = ("bbh", "gptcache_mock", "llmrouter", "mmlu", "presidio", "mt_bench")
CALIBRATING_BY_ROW = ("own benign", "own forms")
# Of purplellama: plain questions that break only what a system prompt said, so the text has nothing to learn from.
UNTEACHABLE = "logic-violating, direct"


class Prepared(Struct, frozen=True, kw_only=True, eq=False):
    """Samples and the rows of their windows."""

    samples: tuple[Sample, ...]
    rows: Rows
    owner: npt.NDArray[np.int64]  # of a row, the index of its sample

    def taken(self, chosen: Sequence[int]) -> "Prepared":
        """Some of the samples, in the order asked for."""
        places = {sample: place for place, sample in enumerate(chosen)}
        rows = np.array([row for row, sample in enumerate(self.owner) if sample in places], np.int64)
        return Prepared(
            samples=tuple(self.samples[index] for index in chosen),
            rows=self.rows.taken(rows),
            owner=np.array([places[self.owner[row]] for row in rows], np.int64),
        )


class Model(Struct, frozen=True, kw_only=True, eq=False):
    """What was fitted, and the threshold by its own cross-fitted benign texts, as a logit."""

    fitted: Fitted
    threshold: float


def prepared(samples: Sequence[Sample]) -> Prepared:
    """Every window of every sample as a row of features."""
    filled, outside, owner = [], [], []
    for index, sample in enumerate(samples):
        findings = heuristics.find(sample.text)
        for start, end in windows.spans(len(sample.text), (found.start for found in findings)):
            window = sample.text[start:end]
            inside = [found for found in findings if found.start < end and found.end > start]
            data = features.normalised(window)
            filled.append(np.unique(features.buckets(data)))
            outside.append(surface.features(window, inside, data))
            owner.append(index)
    starts = np.concatenate([[0], np.cumsum([len(one) for one in filled])])
    rows = Rows(filled=np.concatenate(filled), starts=starts, surface=np.array(outside, np.float64))
    return Prepared(samples=tuple(samples), rows=rows, owner=np.array(owner, np.int64))


def scores(data: Prepared, fitted: Fitted) -> Floats:
    """The logit of the worst window of each sample."""
    worst = np.full(len(data.samples), -np.inf)
    np.maximum.at(worst, data.owner, regression.logits(data.rows, fitted))
    return worst


def fit(data: Prepared) -> Fitted:
    """One model of all samples."""
    labels = np.array([data.samples[index].is_attack for index in data.owner], np.float64)
    counts = np.bincount(data.owner, minlength=len(data.samples))
    weights = 1.0 / counts[data.owner]
    attacks, benign = weights[labels == 1].sum(), weights[labels == 0].sum()
    weights[labels == 1] *= ATTACKS_WEIGH * benign / attacks
    return regression.fit(data.rows, labels, weights, buckets=BUCKETS, penalty=PENALTY, rows_min=ROWS_MIN)


def trained(data: Prepared) -> Model:
    """A model, and a threshold that 1 % of benign texts pass that it was not trained on.

    Benign texts are dealt into two halves, open sets as a whole and texts of our own one by one; each half is scored by
    a model that saw the other. They count by source, so that no large one decides. Sources that attacks are made of
    too stay on the side that trains: left out, their texts would look like the attacks that share their words.
    """
    mixed = {sample.source for sample in data.samples if sample.is_attack}
    found, weight = [], []
    for half in (0, 1):
        held = [i for i, one in enumerate(data.samples) if one.source not in mixed and _half(i, one) == half]
        rest = sorted({*range(len(data.samples))} - {*held})
        left_out = data.taken(held)
        found.append(scores(left_out, fit(data.taken(rest))))
        weight.append(evenly(left_out.samples))
    threshold = quantile(np.concatenate(found), np.concatenate(weight), 1 - FALSE_POSITIVES)
    return Model(fitted=fit(data), threshold=threshold)


def _half(index: int, sample: Sample) -> int | None:
    if sample.source in CALIBRATING:
        return CALIBRATING.index(sample.source) % 2
    return index % 2 if sample.source in CALIBRATING_BY_ROW else None


def evenly(samples: Sequence[Sample]) -> Floats:
    """Weights by which every source weighs one."""
    sizes = Counter(sample.source for sample in samples)
    return np.array([1 / sizes[sample.source] for sample in samples])


def is_taught(sample: Sample) -> bool:
    """Whether a sample is trained on: not where only a system prompt would say what is wrong with it."""
    return sample.risk != UNTEACHABLE


def quantile(values: Floats, weights: Floats, share: float) -> float:
    """The smallest value that at least `share` of the weight is not above."""
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(len(order) - 1, int(np.searchsorted(sums, share - 1e-12)))])
