"""What rules, classifier and both find: each source of attacks left out of training once, and the shipped weights."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from benchmarks.safety.injection import model, sources
from benchmarks.safety.injection.corpus import Corpus
from benchmarks.safety.injection.model import Floats, Prepared
from benchmarks.safety.injection.sources import Sample
from heterodyne.safety.injection import classifier, heuristics
from heterodyne.safety.injection.detect import RULE_SCORE_MIN
from heterodyne.safety.injection.weights import released


class Caught(Struct, frozen=True, kw_only=True):
    """Shares of a group of texts that are flagged."""

    texts: int
    rules: float
    classifier: float
    both: float


class LeftOut(Struct, frozen=True, kw_only=True):
    """One source of attacks, by a model that saw nothing of it."""

    source: str
    caught: Caught  # at the threshold of the sources trained on
    area: float  # under the ROC curve, against the benign sources that nothing is trained on
    at_one_percent: float  # caught where exactly 1 % of those benign texts are flagged
    both_at_one_percent: float
    unseen_flagged: float  # of those, at the threshold of the sources trained on
    own_benign: Caught | None  # benign texts of the source itself
    techniques: dict[str, Caught]
    risks: dict[str, Caught]


class Shipped(Struct, frozen=True, kw_only=True):
    """The weights of the package."""

    unseen: dict[str, Caught]  # benign sources that nothing is trained on
    unseen_mean: Caught  # every source weighs one
    xstest_safe: Caught
    xstest_unsafe: Caught
    bipia_code: Caught


def left_out(source: str, corpus: Corpus) -> LeftOut:
    """Train on all other sources, benign texts of this one left out as well, and test on it."""
    rest = [one for one in (*corpus.attacks, *corpus.benign) if one.source != source and model.is_taught(one)]
    trained = model.trained(model.prepared(rest))
    tested = model.prepared([one for one in corpus.attacks if one.source == source])
    unseen = model.prepared(corpus.unseen)
    scores, benign = model.scores(tested, trained.fitted), model.scores(unseen, trained.fitted)
    weights = model.evenly(unseen.samples)
    exact = model.quantile(benign, weights, 1 - model.FALSE_POSITIVES)
    ruled = _ruled(tested.samples)
    own = [one for one in corpus.benign if one.source == source]
    return LeftOut(
        source=source,
        caught=_caught(ruled, scores > trained.threshold),
        area=area(scores, benign, weights),
        at_one_percent=float(np.mean(scores > exact)),
        both_at_one_percent=float(np.mean(ruled | (scores > exact))),
        unseen_flagged=float(np.average(benign > trained.threshold, weights=weights)),
        own_benign=_own(model.prepared(own), trained) if own else None,
        techniques=_grouped([one.technique for one in tested.samples], ruled, scores > trained.threshold),
        risks=_grouped([one.risk for one in tested.samples], ruled, scores > trained.threshold),
    )


def shipped(corpus: Corpus) -> Shipped:
    """What the released weights do with benign texts and with planted code."""
    by_source: dict[str, list[Sample]] = defaultdict(list)
    for sample in corpus.unseen:
        by_source[sample.source].append(sample)
    unseen = {source: _released(samples) for source, samples in by_source.items()}
    return Shipped(
        unseen=unseen,
        unseen_mean=_mean(list(unseen.values())),
        xstest_safe=_released([one for one in corpus.xstest if not one.is_attack]),
        xstest_unsafe=_released([one for one in corpus.xstest if one.is_attack]),
        bipia_code=_released(corpus.bipia_code),
    )


def area(attacks: Floats, benign: Floats, weights: Floats) -> float:
    """How often an attack scores above a benign text, where every benign source weighs one; ties count half."""
    order = np.argsort(benign, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(weights[order])]) / weights.sum()
    low = np.searchsorted(benign[order], attacks, side="left")
    high = np.searchsorted(benign[order], attacks, side="right")
    return float(np.mean((below[low] + below[high]) / 2))


def _ruled(samples: Sequence[Sample]) -> np.ndarray:
    return np.array([any(one.score >= RULE_SCORE_MIN for one in heuristics.find(sample.text)) for sample in samples])


def _caught(ruled: np.ndarray, scored: np.ndarray) -> Caught:
    return Caught(
        texts=len(ruled),
        rules=float(ruled.mean()),
        classifier=float(scored.mean()),
        both=float((ruled | scored).mean()),
    )


def _grouped(names: Sequence[str], ruled: np.ndarray, scored: np.ndarray) -> dict[str, Caught]:
    chosen = {name: np.array([one == name for one in names]) for name in sorted(set(names)) if name}
    return {name: _caught(ruled[places], scored[places]) for name, places in chosen.items()}


def _own(benign: Prepared, trained: model.Model) -> Caught:
    return _caught(_ruled(benign.samples), model.scores(benign, trained.fitted) > trained.threshold)


def _released(samples: Sequence[Sample]) -> Caught:
    threshold = released().threshold
    scored = np.array([classifier.score(sample.text) > threshold for sample in samples])
    return _caught(_ruled(samples), scored)


def _mean(parts: Sequence[Caught]) -> Caught:
    return Caught(
        texts=sum(part.texts for part in parts),
        rules=float(np.mean([part.rules for part in parts])),
        classifier=float(np.mean([part.classifier for part in parts])),
        both=float(np.mean([part.both for part in parts])),
    )


def all_left_out(corpus: Corpus) -> list[LeftOut]:
    """Every source of attacks in turn."""
    return [left_out(source, corpus) for source in sources.ATTACK_SOURCES]
