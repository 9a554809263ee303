"""Rules and classifier together: what a policy asks about a text."""

from typing import Final

from heterodyne.safety.finding import Finding
from heterodyne.safety.glance import Glance
from heterodyne.safety.injection import classifier, heuristics
from heterodyne.safety.injection.weights import released

RULE_SCORE_MIN: Final = 0.5  # a rule below it is a hint for the classifier and no finding of its own


def detect(text: str, threshold: float | None = None) -> tuple[Finding, ...]:
    """What surer rules found, and the worst window where it is over the threshold; None: the one of the weights."""
    return detect_in(Glance(text), threshold)


def detect_in(glance: Glance, threshold: float | None = None) -> tuple[Finding, ...]:
    """The same of a text that was glanced at."""
    model = released()
    hints = heuristics.found_in(glance)
    found = [hint for hint in hints if hint.score >= RULE_SCORE_MIN]
    worst = classifier.worst(glance.text, hints, model)
    if worst.score > (model.threshold if threshold is None else threshold):
        found.append(worst)
    found.sort()
    return tuple(found)


def rules_alone(glance: Glance) -> tuple[Finding, ...]:
    """What surer rules found."""
    return tuple(hint for hint in heuristics.found_in(glance) if hint.score >= RULE_SCORE_MIN)
