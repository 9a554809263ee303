"""Looks at every request before it is admitted: in the loop where that is quick, beside the worker where it is not."""

from collections.abc import Callable
from functools import partial
from typing import Final

from heterodyne.admission.callers import JUDGE
from heterodyne.domain.errors import HeterodyneError, Overloaded
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.guards.failing import failed
from heterodyne.gateway.guards.hits import GuardHits
from heterodyne.gateway.guards.late import flag_late
from heterodyne.gateway.guards.quick import is_quick_for, policies_of
from heterodyne.gateway.guards.remote.remote_guards import RemoteGuards
from heterodyne.gateway.guards.remote.request_looks import RequestLooks
from heterodyne.gateway.guards.remote.waiting import RemoteWait
from heterodyne.gateway.offload.job import Checked, CheckRequest, JobFailed, Result, error_of
from heterodyne.gateway.offload.steps import OffloadedSteps
from heterodyne.safety.guarded import Guarded
from heterodyne.safety.policy import GuardPolicy, only_flag
from heterodyne.safety.remote.judged import Looked, guarded_by
from heterodyne.safety.request_check import check_request
from heterodyne.safety.request_guard import RequestGuard
from heterodyne.wire.responder import Responder

FLAGGED_BESIDE_MAX: Final = 64  # jobs of the process beside the worker


Then = Callable[[Request], Responder | None]
GoOn = Callable[[Callable[[], Responder | None]], None]
Refused = Callable[[HeterodyneError], None]


class InputGuard:
    """One per worker, made anew when the policies change."""

    def __init__(
        self,
        policy: GuardPolicy,
        steps: OffloadedSteps,
        remote: RemoteGuards,
        hits: GuardHits,
        clock: Callable[[], float],
    ) -> None:
        self._policy = policy
        self._steps = steps
        self._remote = remote
        self._hits = hits
        self._clock = clock

    def check(
        self,
        request: Request,
        caller: Caller,
        model: str,
        *,
        then: Then,
        go_on: GoOn,
        refused: Refused,
    ) -> Responder | None:
        """Go on with `then` now, or have `go_on` take that step or be `refused` once it was looked at; raises
        ContentBlocked.

        `model` is the one that the request means. What the gateway asks a judge is looked at by nobody: the words have
        been looked at, and a judge would be judged without end.
        """
        if caller.key == JUDGE.key:
            return then(request)
        plan = self._policy.plan(caller.project, request.model, model)
        if plan is None:
            return then(request)
        request.guard = guard = RequestGuard(plan, self._hits.of_request(request, caller.project, model))
        if plan.remote_input or plan.remote_output:
            guard.looks = RequestLooks(self._remote, guard, request.id, caller, request.model)
            if plan.remote_input:
                then = partial(self._ask_elsewhere, guard, then=then, go_on=go_on, refused=refused)
        if guard.late:
            guard.watch = partial(flag_late, guard, self._steps.offload, request.id, caller.salt)
        if not plan.input:
            return then(request)
        if is_quick_for(plan.input, request.body):
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
                go_on(partial(then, taken))

        return self._steps.begin(
            job, request.body, caller.salt, deadline_s=request.deadline_s, done=checked, refused=refused
        )

    def _ask_elsewhere(
        self, guard: RequestGuard, request: Request, *, then: Then, go_on: GoOn, refused: Refused
    ) -> Responder | None:
        """What policies here have let pass, for guards elsewhere to judge."""
        looks, body = guard.looks, (request.body,)
        assert looks is not None
        looks.flag("input", body, request.media_type)
        if only_flag(guard.plan.remote_input):
            return then(request)
        wait = RemoteWait(
            self._remote.waiting,
            request.deadline_s - self._clock(),
            done=partial(go_on, partial(then, request)),
            refused=refused,
        )
        wait.look = looks.ask("input", body, partial(_judged, wait, guard), request.media_type)
        return wait

    def _flag_beside(self, job: CheckRequest, request: Request, caller: Caller, guard: RequestGuard) -> None:
        """Nothing waits for it, so that nothing else bounds how many bodies are held for it."""
        offload = self._steps.offload
        if offload.jobs >= FLAGGED_BESIDE_MAX:
            failed(request.id, "input", Overloaded("Too many long bodies wait to be looked at."))
        else:
            offload.submit(job, (request.body,), caller.salt, _flagging(request, guard))


def _judged(wait: RemoteWait, guard: RequestGuard, looked: Looked) -> None:
    try:
        guard.take(guarded_by(looked, "input"))
    except HeterodyneError as error:
        wait.end(error)
        return
    if looked.refusal is not None:
        wait.end(looked.refusal)
    else:
        wait.go_on()


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
