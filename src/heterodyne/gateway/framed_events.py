"""An engine's event stream in Amazon's binary framing, told to the relay that listens for server-sent events."""

from typing import Final, Protocol

import msgspec

from heterodyne.domain.errors import EngineBroke, EngineError, EngineGarbage
from heterodyne.wire.amazon_events import MEDIA_TYPE, AmazonEvent, AmazonEvents, AmazonEventsInvalid
from heterodyne.wire.chunks import unframe
from heterodyne.wire.client_connection import Listener
from heterodyne.wire.errors import WireError

AMAZON_EVENTS: Final = MEDIA_TYPE
STREAMS: Final = (b"text/event-stream", AMAZON_EVENTS)
KIND: Final = ":message-type"
NAMES: Final = {"event": ":event-type", "exception": ":exception-type"}  # by kind, where the type is
ERROR: Final = ":error-message"  # of a message that is neither

_encode = msgspec.json.Encoder().encode


class FramedOwner(Protocol):
    """The attempt a stream belongs to."""

    def stream_broken(self, error: EngineError) -> None: ...


class FramedEvents:
    """Listens to the engine in the relay's place. The data of an event is an object with one member, its type."""

    def __init__(self, relay: Listener, owner: FramedOwner) -> None:
        self._relay = relay
        self._owner = owner
        self._events = AmazonEvents()
        self._is_broken = False

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None:
        raise AssertionError("the head came before the stream")

    def on_framed(self, data: bytes, chunks: int) -> None:
        self.on_payload(unframe(data))

    def on_payload(self, data: bytes) -> None:
        if self._is_broken:
            return
        try:
            told = b"".join(map(_told, self._events.feed(data)))
        except (AmazonEventsInvalid, KeyError) as error:
            self._break(EngineGarbage(f"The provider sent bytes that are no event stream: {error}."))
            return
        if told:
            self._relay.on_payload(told)

    def on_end(self) -> None:
        if self._events.is_between:
            self._relay.on_end()
        elif not self._is_broken:
            self._break(EngineBroke("The engine ended its stream in the middle of an event."))

    def on_failure(self, error: WireError) -> None:
        self._relay.on_failure(error)

    def _break(self, error: EngineError) -> None:
        self._is_broken = True
        self._owner.stream_broken(error)


def _told(event: AmazonEvent) -> bytes:
    headers = event.headers
    name_header = NAMES.get(headers[KIND])
    if name_header is None:
        return b'data: {"error":%b}\n\n' % _encode({"message": headers.get(ERROR, "")})
    # JSON has line ends between its tokens alone, and an event's data is one line.
    payload = event.payload.replace(b"\n", b" ").replace(b"\r", b" ") or b"{}"
    return b"data: {%b:%b}\n\n" % (_encode(headers[name_header]), payload)
