"""Pure: questions whose answers an operator knows, which a candidate has to get right before any user sees it."""

from collections.abc import Sequence

from msgspec import Struct

QUESTIONS_MAX = 200
SHOWN = 3  # of those that went wrong


class GoldenQuestion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One; right is an answer that has any of the words in it, however they are written."""

    prompt: str
    expects: tuple[str, ...]

    def is_right(self, answer: str) -> bool:
        said = answer.casefold()
        return any(words.casefold() in said for words in self.expects)


class GoldenSet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked, and how much of it has to be right."""

    questions: tuple[GoldenQuestion, ...]
    right_share: float = 1.0


def golden_verdict(golden: GoldenSet, answers: Sequence[str]) -> tuple[bool, str]:
    """Whether enough is right, and in words what is not."""
    wrong = [one for one, answer in zip(golden.questions, answers, strict=True) if not one.is_right(answer)]
    count = len(golden.questions)
    right = count - len(wrong)
    said = f"{right} of {count} golden answers are right"
    if wrong:
        said += "; wrong: " + "; ".join(one.prompt[:60] for one in wrong[:SHOWN])
    return right >= golden.right_share * count, said
