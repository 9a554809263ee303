"""Policies that flag what only the whole of an answer shows: they look when it has streamed, and hold nothing back."""

from typing import Final

from heterodyne.domain.errors import HeterodyneError, Overloaded
from heterodyne.gateway.guards.failing import failed
from heterodyne.gateway.guards.quick import is_quick_for, policies_of
from heterodyne.gateway.offload.job import CheckAnswer, Checked, JobFailed, Result, error_of
from heterodyne.gateway.offload.process import Offload
from heterodyne.safety.answer_check import check_answer
from heterodyne.safety.placeholders import NOTHING
from heterodyne.safety.request_guard import RequestGuard

LATE_MAX: Final = 64  # jobs of the process beside the worker, as nothing waits for these


def flag_late(guard: RequestGuard, offload: Offload, request_id: str, owner: bytes, whole: bytes) -> None:
    """Write down what they find in an answer that its client has."""
    rules, expected = guard.late, guard.plan.expected
    if is_quick_for(rules, whole):
        try:
            guard.take(check_answer(rules, NOTHING, whole, expected=expected)[0])
        except Exception as error:  # noqa: BLE001  # a guard's mistake, which costs nobody an answer
            failed(request_id, "output", error)
        return

    def on_result(result: Result, _: bytes) -> None:
        if isinstance(result, JobFailed):
            failed(request_id, "output", error_of(result))
            return
        assert isinstance(result, Checked)
        try:
            guard.take(result.guarded)
        except HeterodyneError as error:  # no policy among them blocks
            failed(request_id, "output", error)

    if offload.jobs >= LATE_MAX:
        failed(request_id, "output", Overloaded("Too many long answers wait to be looked at."))
    else:
        offload.submit(
            CheckAnswer(policies=policies_of(rules), values={}, expected=expected), (whole,), owner, on_result
        )
