"""What the answer of an engine that did not stream comes to, in the client's words."""

from collections.abc import Callable
from functools import partial
from typing import Final

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
from heterodyne.gateway.offload.process import Offload, PendingJob
from heterodyne.ports.engine_request import EngineRequest

REFUSAL_BYTES_MAX: Final = 65536  # of an engine's error that are read


Outcome = TranslatedAnswer | EngineRequest | HeterodyneError


def read_whole(
    attempt: Attempt,
    request: Request,
    pieces: list[bytes],
    offload: Offload,
    *,
    owner: bytes,
    take: Callable[[Attempt, Outcome], None],
) -> Outcome | None:
    """What a whole answer of an engine comes to; None: it is long, and `take` hears it later."""
    dialect, replica = attempt.wire.dialect, attempt.wire.replica

    def seen(answer: Outcome) -> Outcome | None:
        """The same as policies leave it."""
        if not isinstance(answer, TranslatedAnswer) or answer.is_error or not is_guarded(request):
            return answer
        guarded = guard_whole(request, answer, offload, owner=owner, done=partial(take, attempt))
        if not isinstance(guarded, PendingJob):
            return guarded
        attempt.work = guarded
        return None

    def read_beside(answer: Outcome) -> None:
        if (outcome := seen(answer)) is not None:
            take(attempt, outcome)

    try:
        if attempt.status != 200:
            return dialect.refusal(request, attempt.status, b"".join(pieces)[:REFUSAL_BYTES_MAX])
        if request.stream:
            return EngineGarbage("The engine answered a stream with something else.")
        if total_bytes(pieces) > ANSWER_BYTES_LARGE:
            attempt.work = answer_beside(offload, request, replica, pieces, owner=owner, done=read_beside)
            return None
        return seen(whole_answer(dialect, request, replica, b"".join(pieces)))
    except HeterodyneError as error:
        return error
