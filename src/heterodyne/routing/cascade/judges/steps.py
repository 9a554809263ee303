"""Doubt by how many steps an answer computes: each may be the one that is wrong, though all of its sums are right."""

from typing import Final

from heterodyne.routing.cascade.judges.doubt import DOUBTED_MAX, AnswerForm, Doubt, JudgedAnswer

FEW: Final = "few_steps"
MANY: Final = "many_steps"

MANY_STEPS: Final = 8
DOUBTED_STEPS: Final = 16  # and all above are doubted as much


def judge(answer: JudgedAnswer, form: AnswerForm) -> Doubt | None:
    """None where nothing is computed."""
    del form
    steps = answer.text.count("=")
    if not steps:
        return None
    return Doubt(risk=min(DOUBTED_MAX, steps / DOUBTED_STEPS), reason=MANY if steps >= MANY_STEPS else FEW)
