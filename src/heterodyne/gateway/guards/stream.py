"""A stream as policies let its client have it: the events of the engine, edited twice, and watched."""

import msgspec

from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.errors import EngineError, EngineGarbage
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.collected_stream import CollectedStream, collector_of
from heterodyne.gateway.guards.failing import failed
from heterodyne.gateway.stream_turns import StreamTurns
from heterodyne.ports.engine import EventEdit
from heterodyne.safety.request_guard import RequestGuard


def guarded_edit(edit: EventEdit | None, turns: StreamTurns) -> EventEdit:
    """What an OpenAI client needs done to the events, and then what policies do with them."""
    if edit is None:
        return turns.event

    def guarded(data: bytes) -> tuple[bytes, ...]:
        return tuple(made for one in edit(data) for made in turns.event(one))

    return guarded


def stream_turns(guard: StreamGuard, request: Request) -> StreamTurns:
    """The turns in which policies look at the events; what a guard that fails makes of them."""
    is_blind = False  # a guard that only watches has failed, and watches no more

    def looked_at(data: bytes) -> tuple[bytes, ...]:
        nonlocal is_blind
        if is_blind:
            return (data,)
        try:
            return guard(data)
        except EngineError:
            raise
        except Exception as error:
            failed(request.id, "output", error)
            if request.guard is None or not request.guard.only_watches:
                raise EngineGarbage("The answer could not be looked at as policies ask.") from error
            is_blind = True
            return (data,)

    return StreamTurns(looked_at)


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
