"""A stream as policies let its client have it: the events of the engine, edited twice, and watched."""

import msgspec

from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.errors import EngineError, EngineGarbage
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.collected_stream import CollectedStream, collector_of
from heterodyne.gateway.guards.failing import failed
from heterodyne.ports.engine import EventEdit
from heterodyne.safety.request_guard import RequestGuard


def guarded_edit(edit: EventEdit | None, guard: StreamGuard, request: Request) -> EventEdit:
    """What an OpenAI client needs done to the events, and then what policies do with them."""
    is_blind = False  # a guard that only watches has failed, and watches no more

    def guarded(data: bytes) -> tuple[bytes, ...]:
        nonlocal is_blind
        events = (data,) if edit is None else edit(data)
        if is_blind:
            return events
        try:
            return guard(data) if edit is None else tuple(made for one in events for made in guard(one))
        except EngineError:
            raise
        except Exception as error:
            failed(request.id, "output", error)
            if request.guard is None or not request.guard.only_watches:
                raise EngineGarbage("The answer could not be looked at as policies ask.") from error
            is_blind = True
            return events

    return guarded


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
