"""Doubt by what a verifier model said when it was asked whether an answer is right."""

import re
from typing import Final

from heterodyne.routing.cascade.judges.doubt import DOUBTED_MAX, AnswerForm, Doubt, JudgedAnswer

ACCEPTED: Final = "accepted"
REJECTED: Final = "rejected"
UNCLEAR: Final = "unclear"

UNCLEAR_RISK: Final = 0.5

_GRADE: Final = re.compile(r"\b(\d+(?:\.\d+)?)\s*(?:/|out of)\s*(\d+)\b")
_YES: Final = re.compile(r"^\W*(?:yes|correct|true|right|accept\w*)\b", re.IGNORECASE)
_NO: Final = re.compile(r"^\W*(?:no|not|incorrect|false|wrong|reject\w*)\b", re.IGNORECASE)


def judge(answer: JudgedAnswer, form: AnswerForm) -> Doubt | None:
    """None where no verifier was asked; else a grade such as `7/10`, or how its verdict begins."""
    del form
    if answer.verdict is None:
        return None
    grade = _GRADE.search(answer.verdict)
    if grade and float(grade[2]) > 0:
        risk = max(0.0, min(DOUBTED_MAX, 1 - float(grade[1]) / float(grade[2])))
        return Doubt(risk=risk, reason=ACCEPTED if risk < UNCLEAR_RISK else REJECTED)
    if _YES.match(answer.verdict):
        return Doubt(risk=0.0, reason=ACCEPTED)
    if _NO.match(answer.verdict):
        return Doubt(risk=DOUBTED_MAX, reason=REJECTED)
    return Doubt(risk=UNCLEAR_RISK, reason=UNCLEAR)
