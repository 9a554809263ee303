"""A stream that passes, and is put together as it does: for whoever wants to know the whole answer at its end."""

from collections.abc import Callable
from typing import Final, final

from heterodyne.domain.cache_use import EventEdit
from heterodyne.domain.errors import EngineError
from heterodyne.domain.operation import Operation
from heterodyne.engines.collect_stream import StreamCollector, chat_collector, text_collector
from heterodyne.gateway.offload.answering import ANSWER_BYTES_LARGE

EVENTS_BYTES_MAX: Final = 64 * ANSWER_BYTES_LARGE  # an event takes some fifty bytes for each that it says


def collector_of(operation: Operation) -> StreamCollector:
    """What puts the events of a chat, or of a text, together."""
    return chat_collector() if operation is Operation.CHAT else text_collector()


@final
class CollectedStream:
    """Edits the events of one replica's stream as its dialect does, and puts them together."""

    __slots__ = ("_bytes", "_collector", "_done", "_edit")

    def __init__(
        self, edit: EventEdit | None, collector: StreamCollector, done: Callable[["CollectedStream"], None]
    ) -> None:
        self._edit = edit
        self._collector: StreamCollector | None = collector  # None: it is too long, or no answer
        self._done = done
        self._bytes = 0

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        events = (data,) if self._edit is None else self._edit(data)
        collector = self._collector
        if collector is None:
            return events
        try:
            for event in events:
                self._bytes += len(event)
                collector.add(event)
        except (EngineError, LookupError, TypeError, AttributeError):  # whoever reads it for its client says so
            self._collector = None
        if self._bytes > EVENTS_BYTES_MAX:
            self._collector = None
        if self._collector is None or collector.is_done:
            self._done(self)
        return events

    def whole(self) -> bytes | None:
        """The answer; None: it is not to be kept."""
        return None if self._collector is None else self._collector.whole()
