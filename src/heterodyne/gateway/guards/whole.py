"""A whole answer as policies let its client have it: looked at in the loop where it is short, beside it where not."""

from collections.abc import Callable
from typing import Final

from heterodyne.domain.errors import HeterodyneError, InternalError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.guards.failing import failed
from heterodyne.gateway.guards.input_guard import is_quick, policies_of
from heterodyne.gateway.offload.answering import TranslatedAnswer
from heterodyne.gateway.offload.job import CheckAnswer, Checked, JobFailed, Result, error_of
from heterodyne.gateway.offload.process import Offload, PendingJob
from heterodyne.safety.request_guard import RequestGuard

UNSEEN: Final = "The answer could not be looked at as policies ask; the log has the details."
NUMBERS: Final = (Operation.EMBEDDING, Operation.TOKENIZE, Operation.COUNT, Operation.SCORE)  # have no words


def is_guarded(request: Request) -> bool:
    """Whether policies have to see the answer."""
    guard = request.guard
    return guard is not None and guard.looks_at_answers and request.operation not in NUMBERS


def guard_whole(
    request: Request,
    answer: TranslatedAnswer,
    offload: Offload,
    *,
    owner: bytes,
    done: Callable[[TranslatedAnswer | HeterodyneError], None],
) -> TranslatedAnswer | HeterodyneError | PendingJob:
    """The answer, or why there is none; a job: it is long, and `done` hears it later."""
    guard = request.guard
    assert isinstance(guard, RequestGuard)
    if len(answer.pieces) == 1 and is_quick(answer.pieces[0]):
        try:
            return _with(answer, [guard.check_answer(answer.pieces[0])])
        except HeterodyneError as error:
            return error
        except Exception as error:  # noqa: BLE001  # a guard's mistake
            return _unseen(request, answer, error)

    def on_result(result: Result, made: bytes) -> None:
        if isinstance(result, JobFailed):
            done(_unseen(request, answer, error_of(result)))
            return
        assert isinstance(result, Checked)
        try:
            guard.take(result.guarded)
        except HeterodyneError as error:
            done(error)
        else:
            done(_with(answer, answer.pieces if result.is_same else [made]))

    job = CheckAnswer(policies=policies_of(guard.plan.output), values=dict(guard.placeholders.values))
    return offload.submit(job, answer.pieces, owner, on_result)


def _with(answer: TranslatedAnswer, pieces: list[bytes]) -> TranslatedAnswer:
    return TranslatedAnswer(pieces, answer.usage, is_error=answer.is_error)


def _unseen(request: Request, answer: TranslatedAnswer, error: Exception) -> TranslatedAnswer | HeterodyneError:
    """The answer where policies only watch; else an error in its place."""
    guard = request.guard
    assert isinstance(guard, RequestGuard)
    failed(request.id, "output", error)
    if guard.only_watches:
        return answer
    return error if isinstance(error, HeterodyneError) else InternalError(UNSEEN)
