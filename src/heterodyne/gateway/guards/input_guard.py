"""Looks at every request before it is admitted: in the loop where that is quick, beside the worker where it is not."""

from collections.abc import Callable, Sequence
from typing import Final

from heterodyne.domain.errors import HeterodyneError, Overloaded
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.guards.failing import failed
from heterodyne.gateway.offload.job import Checked, CheckRequest, JobFailed, Result, error_of
from heterodyne.gateway.offload.steps import OffloadedSteps
from heterodyne.safety.guarded import Guarded
from heterodyne.safety.policy import GuardPolicy, GuardRule, only_flag
from heterodyne.safety.quick_look import DIGITS, everything_but
from heterodyne.safety.request_check import check_request
from heterodyne.safety.request_guard import RequestGuard
from heterodyne.safety.settings import GuardSettings
from heterodyne.telemetry import metrics
from heterodyne.wire.server_connection import Responder

QUICK_BYTES_MAX: Final = 4096  # some two milliseconds at worst
QUICK_DIGITS_MAX: Final = 64  # numbers take the longest: each may be of many kinds
FLAGGED_BESIDE_MAX: Final = 64  # jobs of the process beside the worker
NO_DIGITS: Final = everything_but(DIGITS)


class InputGuard:
    """One per worker, made anew when the policies change."""

    def __init__(self, policy: GuardPolicy, steps: OffloadedSteps) -> None:
        self._policy = policy
        self._steps = steps

    def check(
        self,
        request: Request,
        caller: Caller,
        model: str,
        *,
        then: Callable[[Request], Responder | None],
        later: Callable[[Request], None],
        refused: Callable[[HeterodyneError], None],
    ) -> Responder | None:
        """Go on with `then` now, or with `later` or `refused` once it was looked at; raises ContentBlocked.

        `model` is the one that the request means.
        """
        plan = self._policy.plan(caller.project, request.model, model)
        if plan is None:
            return then(request)
        request.guard = guard = RequestGuard(plan, note)
        if not plan.input:
            return then(request)
        if is_quick(request.body):
            return then(_checked(request, guard))
        job = CheckRequest(policies=policies_of(plan.input), media_type=request.media_type)
        if only_flag(plan.input):
            self._flag_beside(job, request, caller, guard)
            return then(request)

        def checked(result: Result, made: bytes) -> None:
            assert isinstance(result, Checked)
            body = request.body if result.is_same else made
            try:
                taken = _taken(request, guard, result.guarded, body)
            except HeterodyneError as error:
                refused(error)
            else:
                later(taken)

        return self._steps.begin(
            job, request.body, caller.salt, deadline_s=request.deadline_s, done=checked, refused=refused
        )

    def _flag_beside(self, job: CheckRequest, request: Request, caller: Caller, guard: RequestGuard) -> None:
        """Nothing waits for it, so that nothing else bounds how many bodies are held for it."""
        offload = self._steps.offload
        if offload.jobs >= FLAGGED_BESIDE_MAX:
            failed(request.id, "input", Overloaded("Too many long bodies wait to be looked at."))
        else:
            offload.submit(job, (request.body,), caller.salt, _flagging(request, guard))


def is_quick(body: bytes) -> bool:
    """Whether looking at it holds up nobody."""
    return len(body) <= QUICK_BYTES_MAX and len(body.translate(None, NO_DIGITS)) <= QUICK_DIGITS_MAX


def policies_of(rules: Sequence[GuardRule]) -> tuple[tuple[str, GuardSettings], ...]:
    """The same rules, as the process beside the worker is told them."""
    return tuple((rule.policy, rule.settings) for rule in rules)


def note(verdict: GuardVerdict) -> None:
    """Count it."""
    metrics.guard_verdicts.add((verdict.policy, verdict.guard, verdict.rule, verdict.action, verdict.direction))


def _checked(request: Request, guard: RequestGuard) -> Request:
    rules = guard.plan.input
    try:
        guarded, body = check_request(rules, request.body, request.media_type)
    except HeterodyneError:
        raise
    except Exception as error:  # a guard's mistake; whoever only watches must not cost a request
        if not only_flag(rules):
            raise
        failed(request.id, "input", error)
        return request
    return _taken(request, guard, guarded, body)


def _taken(request: Request, guard: RequestGuard, guarded: Guarded, body: bytes) -> Request:
    guard.take(guarded)
    if body is request.body:
        return request
    masked = request.copied()
    masked.received, masked.body = request.received_body, body
    return masked


def _flagging(request: Request, guard: RequestGuard) -> Callable[[Result, bytes], None]:
    def checked(result: Result, _: bytes) -> None:
        if isinstance(result, JobFailed):
            failed(request.id, "input", error_of(result))
            return
        assert isinstance(result, Checked)
        guard.take(result.guarded)

    return checked
