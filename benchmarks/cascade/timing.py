"""What a decision takes: a prompt's score, and a look at an answer."""

import time
from collections.abc import Callable

from msgspec import Struct

from heterodyne.routing.cascade.fitted_cascade import CascadeScorer, FittedCascade
from heterodyne.routing.cascade.judges.catalogue import judged
from heterodyne.routing.cascade.judges.doubt import AnswerForm, JudgedAnswer

ROUNDS = 300
QUESTION = "A shop sells 12 eggs for $3. How many dollars do 60 eggs cost, and why? "
ANSWER = "60 / 12 = 5 boxes are needed, so the eggs cost 5 * 3 = 15 dollars.\n#### 15"


class CascadeTiming(Struct, frozen=True, kw_only=True):
    """One thing that is timed."""

    what: str
    us: float


def timings(fitted: FittedCascade) -> list[CascadeTiming]:
    """The median of many rounds."""
    scorer = CascadeScorer(fitted)
    answer = JudgedAnswer(text=ANSWER, samples=(ANSWER, "It is 15.", "#### 16"), logprobs=(-0.1,) * 40)
    code = JudgedAnswer(text="```python\n" + "def f(x):\n    return x + 1\n" * 20 + "```")
    timed = {
        "score of a prompt of 75 characters": lambda: scorer.prompt_risk(QUESTION),
        "score of a prompt of 3,000 characters": lambda: scorer.prompt_risk(QUESTION * 40),
        "score of a prompt of 100,000 characters": lambda: scorer.prompt_risk(QUESTION * 1350),
        "all judges on an answer of 75 characters with three samples": lambda: judged(answer),
        "form of 40 lines of Python": lambda: judged(code, AnswerForm(language="python"), ("structure",)),
    }
    return [CascadeTiming(what=what, us=_median_us(call)) for what, call in timed.items()]


def _median_us(call: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return sorted(times)[ROUNDS // 2] * 1e6
