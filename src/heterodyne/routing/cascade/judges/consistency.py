"""Doubt by how many of several answers to one prompt come to another result (self-consistency)."""

from collections import Counter
from typing import Final

from heterodyne.routing.cascade.judges.doubt import DOUBTED_MAX, AnswerForm, Doubt, JudgedAnswer
from heterodyne.routing.cascade.judges.results import result_of

AGREED: Final = "agreed"
SPLIT: Final = "split"
OUTVOTED: Final = "outvoted"
NO_RESULT: Final = "no_result"


def judge(answer: JudgedAnswer, form: AnswerForm) -> Doubt | None:
    """None where there is one answer alone."""
    del form
    if not answer.samples:
        return None
    result = result_of(answer.text)
    if result is None:
        return Doubt(risk=DOUBTED_MAX, reason=NO_RESULT)
    votes = Counter(filter(None, map(result_of, answer.samples)))
    others = len(answer.samples)  # a sample without a result agrees with nothing
    risk = min(DOUBTED_MAX, 1 - votes[result] / others)
    if votes[result] == others:
        return Doubt(risk=0.0, reason=AGREED)
    is_outvoted = any(count > votes[result] + 1 for other, count in votes.items() if other != result)
    return Doubt(risk=risk, reason=OUTVOTED if is_outvoted else SPLIT)
