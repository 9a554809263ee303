"""Whether two answers to one question say the same: by their words, or as a model of the fleet judges."""

from collections.abc import Callable
from typing import Final

import msgspec

from heterodyne.caching.semantic.same_answer import JUDGE_TOKENS_MAX, judge_messages, says_the_same, try_judgement
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.inner_step import Ask, inner_post
from heterodyne.gateway.stored.inner_call import InnerAnswer

JUDGE_S: Final = 30.0
JUDGING_MAX: Final = 64  # pairs that models judge at once
BATCH: Final = {b"x-heterodyne-class": b"batch", b"cache-control": b"no-cache, no-store"}

_encode = msgspec.json.Encoder().encode


class AnswerComparer:
    """Nobody waits for it."""

    def __init__(self) -> None:
        self._judging: set[object] = set()

    def compare(
        self,
        ask: Ask | None,
        question: str,
        answers: tuple[bytes, bytes],
        *,
        judge_model: str,
        caller: Caller,
        heard: Callable[[bool | None], None],
    ) -> None:
        """Two whole chat answers; the judge is asked in the name of the caller. None: nobody could say."""
        if says_the_same(*answers):
            heard(True)
        elif not judge_model:
            heard(False)
        elif ask is None or len(self._judging) >= JUDGING_MAX:
            heard(None)
        else:
            self._judge(ask, question, answers, judge_model=judge_model, caller=caller, heard=heard)

    def _judge(
        self,
        ask: Ask,
        question: str,
        answers: tuple[bytes, bytes],
        *,
        judge_model: str,
        caller: Caller,
        heard: Callable[[bool | None], None],
    ) -> None:
        asked = {
            "model": judge_model,
            "messages": judge_messages(question, *answers),
            "temperature": 0,
            "max_tokens": JUDGE_TOKENS_MAX,
        }
        http = inner_post(b"/v1/chat/completions", _encode(asked), caller, wait_s=JUDGE_S, headers=BATCH)
        judged = object()
        self._judging.add(judged)

        def answered(answer: InnerAnswer) -> None:
            self._judging.discard(judged)
            heard(try_judgement(answer.body) if answer.status == 200 else None)

        ask(http, answered)
