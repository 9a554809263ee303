"""A stream as policies let its client have it: the events of the engine, edited twice, and watched."""

from collections.abc import Callable
from functools import partial
from typing import final

import msgspec

from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.errors import EngineError, EngineGarbage, HeterodyneError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.collected_stream import CollectedStream, collector_of
from heterodyne.gateway.guards.failing import failed
from heterodyne.gateway.guards.quick import policies_of
from heterodyne.gateway.offload.job import CheckAnswer, Checked, JobFailed, Result, error_of
from heterodyne.gateway.offload.process import Offload, PendingWork
from heterodyne.gateway.stream_turns import StreamTurns
from heterodyne.ports.engine import EventEdit
from heterodyne.safety.inspection.stages import call_rules
from heterodyne.safety.request_guard import RequestGuard


def guarded_edit(edit: EventEdit | None, turns: StreamTurns) -> EventEdit:
    """What an OpenAI client needs done to the events, and then what policies do with them."""
    if edit is None:
        return turns.event

    def guarded(data: bytes) -> tuple[bytes, ...]:
        return tuple(made for one in edit(data) for made in turns.event(one))

    return guarded


@final
class StreamLook:
    """What policies make of the events, and what a guard that fails makes of them. One for each try."""

    __slots__ = ("_guard", "_is_blind", "_last", "_offload", "_problem", "_request", "_salt", "owes")

    def __init__(self, guard: StreamGuard, request: Request, offload: Offload, salt: bytes) -> None:
        self._guard = guard
        self._request = request
        self._offload = offload
        self._salt = salt
        self._is_blind = False  # a guard that only watches has failed, and watches no more
        self._problem: HeterodyneError | None = None  # of what was asked
        self._last = b""  # what came
        self.owes = False

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        if self._is_blind:
            return (data,)
        self._last = data
        try:
            made = self._guard(data)
        except EngineError:
            raise
        except Exception as error:  # noqa: BLE001  # a guard's mistake
            self._fail(error)
            return (data,)
        self.owes = self._guard.owes
        return made

    def more(self, _: bytes = b"") -> tuple[bytes, ...]:
        try:
            if self._problem is not None:
                raise self._problem
            made = self._guard.more()
        except EngineError:
            raise
        except Exception as error:  # noqa: BLE001  # a guard's mistake
            self._fail(error)
            made = (self._last,)
        self.owes = not self._is_blind and self._guard.owes
        return made

    def try_ask(self, then: Callable[[], None]) -> PendingWork | None:
        asked, guard = self._guard.asked, self._request.guard
        if not asked:
            return None
        assert isinstance(guard, RequestGuard)
        plan = guard.plan
        job = CheckAnswer(policies=policies_of(call_rules(plan)), values={}, expected=plan.expected)
        return self._offload.submit(job, [asked], self._salt, partial(self._judged, then))

    def _judged(self, then: Callable[[], None], result: Result, _: bytes) -> None:
        if isinstance(result, Checked):
            self._guard.judged(result.guarded.verdicts)
        else:
            assert isinstance(result, JobFailed)
            self._problem = error_of(result)
        then()

    def _fail(self, error: Exception) -> None:
        request = self._request
        failed(request.id, "output", error)
        if request.guard is None or not request.guard.only_watches:
            raise EngineGarbage("The answer could not be looked at as policies ask.") from error
        self._is_blind = True


def watched_edit(edit: EventEdit | None, request: Request, said: str) -> EventEdit:
    """The same events; guards that only flag see the whole answer at its end, with what was `said` before."""
    guard, collector = request.guard, collector_of(request.operation)
    assert isinstance(guard, RequestGuard)
    if said:
        words = guard.hide(said)
        begun = {"delta": {"content": words}} if request.operation is Operation.CHAT else {"text": words}
        collector.add(msgspec.json.encode({"choices": [{"index": 0, **begun}]}))

    def ended(stream: CollectedStream) -> None:
        whole, looks = stream.whole(), guard.looks
        if whole is None:
            failed(request.id, "output", EngineGarbage("The stream is too long, or no answer, to be looked at."))
            return
        if looks is not None:
            looks.flag("output", [whole])
        if guard.watch is not None:
            guard.watch(whole)

    return CollectedStream(edit, collector, ended)
