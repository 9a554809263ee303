"""Doubt by numbers of the question that an answer makes no use of: who leaves one out has mostly missed a condition."""

import re
from typing import Final

from heterodyne.routing.cascade.judges.doubt import DOUBTED_MAX, AnswerForm, Doubt, JudgedAnswer

ALL_USED: Final = "all_numbers_used"
LEFT_OUT: Final = "number_left_out"

CHARACTERS_MAX: Final = 16_000  # of a question and of an answer
_NUMBER: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")


def judge(answer: JudgedAnswer, form: AnswerForm) -> Doubt | None:
    """None where one of the two has no number."""
    del form
    asked, said = _numbers(answer.question), _numbers(answer.text)
    if not asked or not said:
        return None
    left_out = len(asked - said) / len(asked)
    return Doubt(risk=min(DOUBTED_MAX, left_out), reason=LEFT_OUT if left_out else ALL_USED)


def _numbers(text: str) -> set[float]:
    return {float(found.replace(",", "")) for found in _NUMBER.findall(text[:CHARACTERS_MAX])}
