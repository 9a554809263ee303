"""Every judge by its name, and one look at an answer with several of them."""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from heterodyne.domain.nearest import unknown_name
from heterodyne.routing.cascade.judges import (
    arithmetic,
    consistency,
    left_out,
    logprobs,
    steps,
    structure,
    verifier,
    whole_result,
)
from heterodyne.routing.cascade.judges.doubt import FREE_FORM, AnswerForm, Doubt, JudgedAnswer

Judge = Callable[[JudgedAnswer, AnswerForm], Doubt | None]

JUDGES: Final[Mapping[str, Judge]] = {
    "structure": structure.judge,
    "arithmetic": arithmetic.judge,
    "left_out": left_out.judge,
    "steps": steps.judge,
    "whole_result": whole_result.judge,
    "logprobs": logprobs.judge,
    "consistency": consistency.judge,
    "verifier": verifier.judge,
}


def judged(
    answer: JudgedAnswer, form: AnswerForm = FREE_FORM, names: Collection[str] = tuple(JUDGES)
) -> dict[str, Doubt]:
    """What these judges say; those that have nothing to judge by are left out. Raises UnknownName."""
    found = {}
    for name in names:
        if name not in JUDGES:
            raise unknown_name("judge", name, list(JUDGES))
        doubt = JUDGES[name](answer, form)
        if doubt is not None:
            found[name] = doubt
    return found
