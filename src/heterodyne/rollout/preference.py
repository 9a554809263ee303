"""Pure: which of two answers another model prefers. It is asked in both orders: models like the first one better."""

import re
from typing import Final

from heterodyne.rollout.replay import JudgePreference

JUDGE_TOKENS_MAX: Final = 8
_QUESTION: Final = """\
Two assistants were asked the same. Judge which answer is more helpful, correct and to the point.

Question:
{question}

Answer A:
{first}

Answer B:
{second}

Reply with one word only: A, B or tie."""
_LETTER: Final = re.compile(r"\b(A|B|TIE)\b", re.IGNORECASE)


def judge_questions(question: str, before: str, candidate: str) -> tuple[str, str]:
    """Both orders: in the first the candidate's answer is B, in the second A."""
    return (
        _QUESTION.format(question=question, first=before, second=candidate),
        _QUESTION.format(question=question, first=candidate, second=before),
    )


def preference_of(first: str, second: str) -> JudgePreference:
    """What the judge's answers to both come to; what is no answer is a tie."""
    if _letter(first) == "B" and _letter(second) == "A":
        return JudgePreference(candidate=1)
    if _letter(first) == "A" and _letter(second) == "B":
        return JudgePreference(before=1)
    return JudgePreference(ties=1)


def _letter(answer: str) -> str:
    found = _LETTER.search(answer)
    return found.group(1).upper() if found else ""
