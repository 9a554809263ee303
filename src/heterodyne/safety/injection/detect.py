"""Rules and classifier together: what a policy asks about a text."""

from typing import Final

from heterodyne.safety.finding import Finding
from heterodyne.safety.injection import classifier, heuristics
from heterodyne.safety.injection.weights import released

RULE_SCORE_MIN: Final = 0.5  # a rule below it is a hint for the classifier and no finding of its own


def detect(text: str, threshold: float | None = None) -> tuple[Finding, ...]:
    """What surer rules found, and the worst window where it is over the threshold; None: the one of the weights."""
    model = released()
    hints = heuristics.find(text)
    found = [hint for hint in hints if hint.score >= RULE_SCORE_MIN]
    worst = classifier.worst(text, hints, model)
    if worst.score > (model.threshold if threshold is None else threshold):
        found.append(worst)
    found.sort()
    return tuple(found)


def rules_alone(text: str) -> tuple[Finding, ...]:
    """What surer rules found."""
    return tuple(sorted(hint for hint in heuristics.find(text) if hint.score >= RULE_SCORE_MIN))
