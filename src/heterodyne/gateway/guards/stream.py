"""A stream as policies let its client have it: the events of the engine, edited twice."""

from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.errors import EngineError, EngineGarbage
from heterodyne.domain.request import Request
from heterodyne.gateway.guards.failing import failed
from heterodyne.ports.engine import EventEdit


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
