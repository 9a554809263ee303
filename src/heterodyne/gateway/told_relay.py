"""An engine's event stream to a client of another API than OpenAI's, told in that API's words.

Events that only add text, which is nearly every token, are told without being read, all of one read together. The
others are looked into one by one: a stream begins with some from which the form learns how plain ones look.
"""

from collections.abc import Callable
from typing import Final

from heterodyne.books.flight_slots import FlightSlot
from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.errors import EngineError, EngineGarbage
from heterodyne.gateway.forms.form import StreamForm
from heterodyne.gateway.relay import EVENT_BYTES_MAX, StreamRelay
from heterodyne.gateway.stream_owner import StreamOwner
from heterodyne.gateway.stream_turns import StreamTurns
from heterodyne.ports.engine import EventEdit
from heterodyne.wire.chunks import SIZE_DIGITS, ChunksInvalid, next_chunk_bytes, unframe
from heterodyne.wire.message import chunk
from heterodyne.wire.server_connection import ServerConnection

COMMON_BYTES: Final = len(SIZE_DIGITS)
FEW: Final = 3  # chunks, which are looked into together: an end is two or three
LEARNED_FROM_MAX: Final = 2  # events at the beginning: the first tells a role, the second may have text


class ToldRelay(StreamRelay):
    """Listens to an engine's stream in the exchange's place, once its head has come."""

    __slots__ = ("_form", "_held", "_sent", "_tells_plain")

    def __init__(
        self,
        connection: ServerConnection,
        owner: StreamOwner,
        clock: Callable[[], float],
        *,
        form: StreamForm,
        wants_usage: bool,
        edit: EventEdit | None = None,
        guard: StreamGuard | None = None,
        turns: StreamTurns | None = None,
        keep: list[bytes] | None = None,
        sent: list[bytes] | None = None,
        slot: FlightSlot | None = None,
        before: int = 0,
        event_bytes_max: int = EVENT_BYTES_MAX,
    ) -> None:
        super().__init__(
            connection,
            owner,
            clock,
            wants_usage=wants_usage,
            edit=edit,
            guard=guard,
            turns=turns,
            keep=keep,
            slot=slot,
            before=before,
            event_bytes_max=event_bytes_max,
        )
        self._form = form
        self._sent = sent  # everything the client is sent, for whoever has to know what it was
        self._held: list[bytes] | None = None  # what is told of one read, until all of it is: a write costs the most
        self._tells_plain = self._passes_chunks
        self._passes_chunks = False

    def on_framed(self, data: bytes, chunks: int) -> None:
        if self._tail or not self._tells_plain:
            self._sort(data, chunks)
            return
        plain_text = self._form.plain_text
        if chunks == 1:
            text = plain_text.try_one(data)
            if text:
                self._tell_plain(data, [text])
            else:
                self._sort(data, 1)
            return
        texts, end = plain_text.run(data, 0)
        if end == len(data) and len(texts) == chunks:
            self._tell_plain(data, texts)
        else:
            self._tell_mixed(data, chunks, texts, end)

    def tell(self, told: bytes) -> None:
        """Events in the words of the client's API."""
        if self._held is not None:
            self._held.append(told)
            return
        size = len(told)
        if not self._is_chunked:
            data = told
        elif size < COMMON_BYTES:
            data = b"".join((SIZE_DIGITS[size], b"\r\n", told, b"\r\n"))
        else:
            data = chunk(told)
        self.bytes_sent += len(data)
        if self._sent is not None:
            self._sent.append(data)
        self._write(data)

    def _tell_plain(self, data: bytes, texts: list[bytes]) -> None:
        """Whole chunks, each of one event that adds one of these texts."""
        self.last_at_s = self._clock()
        self.events += len(texts)
        if self._words is not None:
            self._words[self._word] = self._before + self.events
        if self._keep is not None:
            self._keep.append(data)
        self.tell(self._form.told(texts))

    def _tell_mixed(self, data: bytes, chunks: int, texts: list[bytes], end: int) -> None:
        """Plain events and others."""
        held: list[bytes] = []
        self._held = held
        broken: EngineError | None = None
        try:
            self._look_through(data, chunks, texts, end)
        except EngineError as error:
            broken = error
        except ChunksInvalid:
            broken = EngineGarbage("The engine sent bytes that are no event stream.")
        self._held = None
        if held:
            self.tell(b"".join(held))
        if broken is not None:
            self._owner.stream_broken(broken)

    def _look_through(self, data: bytes, chunks: int, texts: list[bytes], end: int) -> None:
        """Where one more that was looked into leads to no plain one, all the rest is looked into together."""
        tries, start, length = 1 if self.events else LEARNED_FROM_MAX, 0, len(data)
        while True:
            if texts:
                self._tell_plain(data[start:end], texts)
                chunks, tries = chunks - len(texts), 1
            if end == length:
                return
            if not tries or self._tail or chunks <= FEW:
                self._take(unframe(data[end:]))
                return
            start = end + next_chunk_bytes(data, end)
            self._take(unframe(data[end:start]))
            chunks, tries = chunks - 1, tries - 1
            texts, end = self._form.plain_text.run(data, start)

    def _give(self, events: list[bytes]) -> None:
        self.events += len(events)
        if self._words is not None:
            self._words[self._word] = self._before + self.events
        if self._keep is not None:
            piece = b"".join(events)
            self._keep.append(chunk(piece) if self._is_chunked else piece)
        told = b"".join([self._form.events(one[:-2]) for one in events])
        if told:
            self.tell(told)
