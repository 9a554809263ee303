"""A whole answer as policies let its client have it: looked at in the loop where it is short, beside it where not."""

from collections.abc import Callable, Sequence
from typing import Final

from heterodyne.domain.errors import HeterodyneError, InternalError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.guards.failing import failed
from heterodyne.gateway.guards.quick import is_quick_for, policies_of
from heterodyne.gateway.offload.answering import TranslatedAnswer
from heterodyne.gateway.offload.job import CheckAnswer, Checked, JobFailed, Result, error_of
from heterodyne.gateway.offload.process import Offload, PendingJob, PendingWork
from heterodyne.safety.answer_check import check_answer
from heterodyne.safety.placeholders import NOTHING
from heterodyne.safety.policy import only_flag
from heterodyne.safety.remote.judged import Judged, Looked
from heterodyne.safety.request_guard import RequestGuard

UNSEEN: Final = "The answer could not be looked at as policies ask; the log has the details."
Outcome = TranslatedAnswer | HeterodyneError
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
    done: Callable[[Outcome], None],
) -> Outcome | PendingWork:
    """The answer, or why there is none; work: it is long, or is judged elsewhere, and `done` hears it later."""
    guard = request.guard
    assert isinstance(guard, RequestGuard)
    if not guard.plan.remote_output:
        return check_here(request, answer, offload, owner=owner, done=done)
    judged = AnswerLook(request, guard, offload, owner=owner, done=done)
    return judged.start(answer) or judged


def check_here(
    request: Request,
    answer: TranslatedAnswer,
    offload: Offload,
    *,
    owner: bytes,
    done: Callable[[Outcome], None],
    judged: Sequence[Judged] | None = None,
) -> Outcome | PendingJob:
    """The same with policies that look here, or with what guards elsewhere have found in what those let pass."""
    guard = request.guard
    assert isinstance(guard, RequestGuard)
    rules, placeholders = (guard.plan.output, guard.placeholders) if judged is None else ((), NOTHING)
    found = tuple(judged or ())
    expected = guard.plan.expected
    if len(answer.pieces) == 1 and is_quick_for(rules, answer.pieces[0]):
        try:
            guarded, body = check_answer(rules, placeholders, answer.pieces[0], judged=found, expected=expected)
            guard.take(guarded)
            return _with(answer, [body])
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

    job = CheckAnswer(policies=policies_of(rules), values=dict(placeholders.values), judged=found, expected=expected)
    return offload.submit(job, answer.pieces, owner, on_result)


class AnswerLook:
    """A whole answer on its way past policies here, and then past guards elsewhere; whoever waits for it holds this."""

    __slots__ = ("_answer", "_done", "_guard", "_offload", "_owner", "_request", "_work")

    def __init__(
        self,
        request: Request,
        guard: RequestGuard,
        offload: Offload,
        *,
        owner: bytes,
        done: Callable[[Outcome], None],
    ) -> None:
        self._request = request
        self._guard = guard
        self._offload = offload
        self._owner = owner
        self._done = done
        self._answer: TranslatedAnswer | None = None  # as policies here leave it
        self._work: PendingWork | None = None  # what is waited for now

    def start(self, answer: TranslatedAnswer) -> Outcome | None:
        """What comes of it; None: it is heard of later."""
        raw = answer.pieces

        def checked(outcome: Outcome) -> None:
            self._tell(self._ask(outcome, raw))

        outcome = check_here(self._request, answer, self._offload, owner=self._owner, done=checked)
        if isinstance(outcome, PendingJob):
            self._work = outcome
            return None
        return self._ask(outcome, raw)

    def cancel(self) -> None:
        """Nobody waits for it any more."""
        if self._work is not None:
            self._work.cancel()

    def _ask(self, outcome: Outcome, raw: list[bytes]) -> Outcome | None:
        """Guards elsewhere see what the engine said, masked as policies here would: values are put back for the client
        alone."""
        guard, looks = self._guard, self._guard.looks
        if isinstance(outcome, HeterodyneError):
            return outcome
        assert looks is not None
        looks.flag("output", raw)
        if only_flag(guard.plan.remote_output):
            return outcome
        self._answer = outcome
        self._work = looks.ask("output", raw, self._heard)
        return None

    def _heard(self, looked: Looked) -> None:
        self._work = None
        assert self._answer is not None
        if looked.blocks:
            judged = looked.judged
            outcome = check_here(
                self._request, self._answer, self._offload, owner=self._owner, done=self._tell, judged=judged
            )
            if isinstance(outcome, PendingJob):
                self._work = outcome
            else:
                self._tell(outcome)
        else:
            self._tell(looked.refusal or self._answer)

    def _tell(self, outcome: Outcome | None) -> None:
        if outcome is not None:
            self._done(outcome)


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
