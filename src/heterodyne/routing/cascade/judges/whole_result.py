"""Doubt by a result that is a fraction, or below zero, where the question has whole numbers alone."""

import re
from typing import Final

from heterodyne.routing.cascade.judges.doubt import AnswerForm, Doubt, JudgedAnswer
from heterodyne.routing.cascade.judges.results import result_of

WHOLE: Final = "whole_result"
BROKEN: Final = "fraction_or_negative"

BROKEN_RISK: Final = 0.9  # averages and prices are fractions by right
CHARACTERS_MAX: Final = 16_000  # of a question
_NUMBER: Final = re.compile(r"\d")
_FRACTION: Final = re.compile(r"\d[.,/]\d{1,2}(?!\d)|%|-\d")


def judge(answer: JudgedAnswer, form: AnswerForm) -> Doubt | None:
    """None where the result is no number, or the question has none, or others than whole ones."""
    del form
    question, result = answer.question[:CHARACTERS_MAX], result_of(answer.text)
    if result is None or _NUMBER.search(question) is None or _FRACTION.search(question) is not None:
        return None
    try:
        value = float(result)
    except ValueError:
        return None
    is_whole = value >= 0 and value.is_integer()
    return Doubt(risk=0.0, reason=WHOLE) if is_whole else Doubt(risk=BROKEN_RISK, reason=BROKEN)
