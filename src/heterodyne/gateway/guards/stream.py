"""A stream as policies let its client have it: the events of the engine, edited twice."""

from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.ports.engine import EventEdit


def guarded_edit(edit: EventEdit | None, guard: StreamGuard) -> EventEdit:
    """What an OpenAI client needs done to the events, and then what policies do with them."""
    if edit is None:
        return guard
    return lambda data: tuple(made for one in edit(data) for made in guard(one))
