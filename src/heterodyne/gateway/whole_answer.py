"""What the answer of an engine that did not stream comes to, in the client's words."""

from collections.abc import Callable
from functools import partial
from typing import Final, final

from heterodyne.domain.errors import EngineGarbage, HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.gateway.attempt import Attempt
from heterodyne.gateway.guards.whole import guard_whole, is_guarded
from heterodyne.gateway.offload.answering import (
    ANSWER_BYTES_LARGE,
    TranslatedAnswer,
    answer_beside,
    total_bytes,
    whole_answer,
)
from heterodyne.gateway.offload.process import Offload
from heterodyne.ports.engine_request import EngineRequest

REFUSAL_BYTES_MAX: Final = 65536  # of an engine's error that are read


Outcome = TranslatedAnswer | EngineRequest | HeterodyneError
Take = Callable[[Attempt, Outcome], None]


def read_whole(
    attempt: Attempt,
    request: Request,
    pieces: list[bytes],
    offload: Offload,
    *,
    owner: bytes,
    take: Take,
) -> Outcome | None:
    """What a whole answer of an engine comes to; None: it is long, and `take` hears it later."""
    dialect, replica = attempt.wire.dialect, attempt.wire.replica
    try:
        if attempt.status != 200:
            return dialect.refusal(request, attempt.status, b"".join(pieces)[:REFUSAL_BYTES_MAX])
        if request.stream:
            return EngineGarbage("The engine answered a stream with something else.")
        if total_bytes(pieces) > ANSWER_BYTES_LARGE:
            done: Callable[[Outcome], None] = partial(take, attempt)
            if request.guard is not None:
                done = GuardedAnswer(attempt, request, offload, owner=owner, take=take).read_beside
            attempt.work = answer_beside(offload, request, replica, pieces, owner=owner, done=done)
            return None
        answer = whole_answer(dialect, request, replica, b"".join(pieces))
        if request.cache is not None and isinstance(answer, TranslatedAnswer):
            request.cache.take(answer.pieces[0])
        if request.guard is None:
            return answer
        return GuardedAnswer(attempt, request, offload, owner=owner, take=take).seen(answer)
    except HeterodyneError as error:
        return error


@final
class GuardedAnswer:
    """A whole answer on its way past policies to whoever waits for it."""

    __slots__ = ("_attempt", "_offload", "_owner", "_request", "_take")

    def __init__(self, attempt: Attempt, request: Request, offload: Offload, *, owner: bytes, take: Take) -> None:
        self._attempt = attempt
        self._request = request
        self._offload = offload
        self._owner = owner
        self._take = take

    def seen(self, answer: Outcome) -> Outcome | None:
        """The same as policies leave it; None: it is long, and is told later."""
        if not isinstance(answer, TranslatedAnswer) or answer.is_error or not is_guarded(self._request):
            return answer
        done = partial(self._take, self._attempt)
        guarded = guard_whole(self._request, answer, self._offload, owner=self._owner, done=done)
        if isinstance(guarded, TranslatedAnswer | HeterodyneError):
            return guarded
        self._attempt.wait_for(guarded)
        return None

    def read_beside(self, answer: Outcome) -> None:
        """It was long, and has been read."""
        outcome = self.seen(answer)
        if outcome is not None:
            self._take(self._attempt, outcome)
