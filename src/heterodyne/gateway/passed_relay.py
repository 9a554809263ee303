"""An engine's answer to its client as it comes, whatever it is: sound, subtitles, events that are not a chat's.

Nothing in it is looked at but its end, where events may tell what was used. It is whole when the engine ended it in
order, and no other replica can go on with it.
"""

from typing import Final

from heterodyne.gateway import usage
from heterodyne.gateway.relay import StreamRelay
from heterodyne.wire.chunks import unframe
from heterodyne.wire.message import chunk

LAST_BYTES: Final = 16 * 1024  # in which the last event is looked for
DATA: Final = b"data:"


class PassedRelay(StreamRelay):
    """Listens to an engine's answer in the exchange's place, once its head has come."""

    __slots__ = ()

    def on_framed(self, data: bytes, chunks: int) -> None:
        payload = unframe(data)
        if self._is_chunked:
            self._send(data, payload)
        else:
            self._send(payload, payload)

    def on_payload(self, data: bytes) -> None:
        if data:
            self._send(chunk(data) if self._is_chunked else data, data)

    def on_end(self) -> None:
        if not self.first_at_s:
            self.last_at_s = self._clock()
            self._begin()  # an answer of no bytes is one too
        self.is_done = True
        self._read_usage()
        self._owner.stream_complete()

    def _send(self, data: bytes, payload: bytes) -> None:
        self.last_at_s = self._clock()
        if not self.first_at_s:
            self._begin()
        self._tail = (self._tail + payload)[-LAST_BYTES:]
        self.bytes_sent += len(data)
        self._write(data)

    def _read_usage(self) -> None:
        """What the last event says of it, where there are events and it says anything."""
        start = self._tail.rfind(b"\n" + DATA, 0, self._tail.rfind(b'"usage"'))
        if start < 0:
            return
        data = self._tail[start + 1 + len(DATA) :].partition(b"\n")[0]
        try:
            self.usage = usage.of_event(data).usage
        except (ValueError, RecursionError):
            return  # sound may look like anything
