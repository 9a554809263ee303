"""Doubt by how sure the model was of its own tokens.

Mean and low tail both count: one wrong digit is a single unlikely token in a long and likely answer, which a mean
hides (token quantiles do better than sums in "Language Model Cascades", Gupta et al., ICLR 2024).
"""

import math
from collections.abc import Sequence
from typing import Final

from heterodyne.routing.cascade.judges.doubt import DOUBTED_MAX, AnswerForm, Doubt, JudgedAnswer

SURE: Final = "sure"
UNSURE_THROUGHOUT: Final = "unsure_throughout"
UNSURE_SOMEWHERE: Final = "unsure_somewhere"

TAIL_SHARE: Final = 0.1  # of the tokens, the least likely
_SURE_RISK_MAX: Final = 0.3


def judge(answer: JudgedAnswer, form: AnswerForm) -> Doubt | None:
    """None where there are no log-probabilities."""
    del form
    if not answer.logprobs:
        return None
    mean_doubt = 1 - math.exp(_mean(answer.logprobs))
    tail_doubt = 1 - math.exp(_mean(_tail(answer.logprobs)))
    doubt = (mean_doubt + tail_doubt) / 2
    if answer.alternatives:
        doubt = max(doubt, _mean([_entropy(one) for one in answer.alternatives]))
    risk = max(0.0, min(DOUBTED_MAX, doubt))
    if risk <= _SURE_RISK_MAX:
        return Doubt(risk=risk, reason=SURE)
    return Doubt(risk=risk, reason=UNSURE_THROUGHOUT if mean_doubt > _SURE_RISK_MAX else UNSURE_SOMEWHERE)


def _tail(logprobs: Sequence[float]) -> list[float]:
    return sorted(logprobs)[: max(1, math.ceil(len(logprobs) * TAIL_SHARE))]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _entropy(alternatives: Sequence[float]) -> float:
    """Of the tokens that are told, as a share of the most they could have; what is not told is one more token."""
    told = [math.exp(min(0.0, value)) for value in alternatives]
    rest = 1 - sum(told)
    shares = [share for share in (*told, rest) if share > 1e-12]
    if len(shares) < 2:
        return 0.0
    total = sum(shares)
    return -sum(share / total * math.log(share / total) for share in shares) / math.log(len(shares))
