"""Asks the big model for some of the answers that a cascade has kept, to see how many it would have answered otherwise.

The client has its answer by then. A coin alone decides which are asked for, so the share of those that differ is that
of all that are kept.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec

from heterodyne.domain.tenant import Caller
from heterodyne.gateway.answer_comparer import BATCH, AnswerComparer
from heterodyne.gateway.cascade_costs import AUDITED, sent_for
from heterodyne.gateway.cascades.cascade import Cascade
from heterodyne.gateway.inner_step import Ask, inner_post
from heterodyne.gateway.stored.inner_call import InnerAnswer
from heterodyne.routing.cascade.chat import cheap_body, prompt_of
from heterodyne.telemetry import metrics

AUDIT_S: Final = 120.0
AUDITS_MAX: Final = 32  # big answers that are under way at once
SAME: Final = "same"
DIFFERENT: Final = "different"
UNKNOWN: Final = "unknown"  # the big model or the judge said nothing
OUTCOMES: Final = {True: SAME, False: DIFFERENT, None: UNKNOWN}
# By its own name, which may be that of the cascade; and it is work that may wait.
ASIDE: Final = {b"x-heterodyne-cascade": b"off", **BATCH}

_encode = msgspec.json.Encoder().encode


class CascadeAudits:
    """One per worker."""

    def __init__(self, chance: Callable[[], float]) -> None:
        self._chance = chance
        self._comparer = AnswerComparer()
        self._under_way: set[object] = set()

    def kept(self, ask: Ask, cascade: Cascade, body: dict[str, Any], told: bytes, caller: Caller) -> None:
        """This answer of the cheap model was given to the caller."""
        share = cascade.settings.audit_share
        if not share or self._chance() >= share:
            return
        if len(self._under_way) >= AUDITS_MAX:
            _count(cascade, None)
            return
        asked = _encode(cheap_body(body, cascade.rule.big, with_logprobs=False))
        headers = {**ASIDE, **sent_for(AUDITED, cascade.rule.alias)}
        http = inner_post(b"/v1/chat/completions", asked, caller, wait_s=AUDIT_S, headers=headers)
        audit = object()
        self._under_way.add(audit)

        def answered(answer: InnerAnswer) -> None:
            self._under_way.discard(audit)
            if answer.status != 200:
                _count(cascade, None)
                return
            self._comparer.compare(
                ask,
                prompt_of(body),
                (told, answer.body),
                judge_model=cascade.settings.judge_model,
                caller=caller,
                heard=partial(_count, cascade),
            )

        ask(http, answered)


def _count(cascade: Cascade, is_same: bool | None) -> None:
    metrics.cascade_audits.add((cascade.rule.alias, OUTCOMES[is_same]))
