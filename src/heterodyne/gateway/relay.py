"""An engine's event stream to the client, event by event, counted and never ended as if whole when it is not.

A piece that is one or more whole chunks of whole events with nothing to look into, which is nearly every token, goes
on as the bytes that came. Everything else is taken apart: unfinished events wait for their end, the usage event is
read and withheld from clients that did not ask for it, and where the dialect asks for it, events are edited. What comes
before the first token (who will speak, that the engine still works) waits for it, so that the first token is what wins
a race, and what is timed. Clients of other APIs have a relay of their own (`told_relay.py`).
"""

from collections.abc import Callable
from typing import Final

from heterodyne.books.flight_slots import DELIVERED, FlightSlot
from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.errors import EngineBroke, EngineError, EngineGarbage
from heterodyne.domain.request import Usage
from heterodyne.engines.wire_errors import engine_error
from heterodyne.gateway import usage
from heterodyne.gateway.event_bytes import EVENT_TAIL, FIELDS, ends, may_become_event, plain_bytes, try_data
from heterodyne.gateway.stream_owner import StreamOwner
from heterodyne.gateway.stream_turns import StreamTurns
from heterodyne.ports.engine import EventEdit
from heterodyne.wire.chunks import unframe
from heterodyne.wire.errors import WireError
from heterodyne.wire.message import chunk
from heterodyne.wire.server_connection import ServerConnection
from heterodyne.wire.server_socket import HOLD_S

EVENT_BYTES_MAX: Final = 1 << 19  # as `gateway.event_bytes_max` has it
# The events of a stream that come closer than this are sent together: such a stream is quicker than anybody reads, and
# a write costs more than all else that is done for an event. The first ones, which somebody waits for, go out at once.
QUICK_S: Final = HOLD_S
FIRST_EVENTS: Final = 4
# Events wait so long for the first token; later ones go out, so that nothing between takes the connection for dead.
EARLY_S: Final = 10.0
EARLY_BYTES_MAX: Final = 64 * 1024
TEXT: Final = b'"content":"'  # unescaped, so no part of a text
NO_TEXT: Final = b'"content":""'


class StreamRelay:
    """Listens to an engine's stream in the exchange's place, once its head has come."""

    __slots__ = (
        "_before",
        "_clock",
        "_connection",
        "_early",
        "_early_at_s",
        "_early_bytes",
        "_edit",
        "_event_bytes_max",
        "_guard",
        "_is_chunked",
        "_keep",
        "_more",
        "_more_bytes",
        "_owner",
        "_passes_chunks",
        "_tail",
        "_turns",
        "_wants_usage",
        "_word",
        "_words",
        "_written_at_s",
        "bytes_sent",
        "error_event",
        "events",
        "events_early",
        "first_at_s",
        "has_error",
        "is_done",
        "last_at_s",
        "usage",
    )

    def __init__(
        self,
        connection: ServerConnection,
        owner: StreamOwner,
        clock: Callable[[], float],
        *,
        wants_usage: bool,
        edit: EventEdit | None = None,
        guard: StreamGuard | None = None,
        turns: StreamTurns | None = None,
        keep: list[bytes] | None = None,
        slot: FlightSlot | None = None,
        before: int = 0,
        event_bytes_max: int = EVENT_BYTES_MAX,
    ) -> None:
        self._connection = connection
        self._written_at_s = 0.0
        self._owner = owner
        self._clock = clock
        self._wants_usage = wants_usage
        self._edit = edit
        self._guard = guard  # the last to edit; None: no policy looks at the answer
        self._turns = turns  # in which it does
        if turns is not None:
            turns.begin(self, owner)
        # Everything the client is sent, as OpenAI's events, for whoever may have to go on from there.
        self._keep = keep
        # How many events the client was given stands in the slot before they go out; `before` came from others.
        self._words = None if slot is None else slot.words
        self._word = 0 if slot is None else slot.word + DELIVERED
        self._before = before
        self._event_bytes_max = event_bytes_max
        self._is_chunked = connection.speaks_chunked
        self._passes_chunks = self._is_chunked and edit is None
        self._tail = b""  # of an event whose end has not come
        self._more: list[bytes] = []  # of the same event, behind the tail
        self._more_bytes = 0
        self._early: list[bytes] = []  # events that wait for the first token
        self._early_bytes = 0
        self._early_at_s = 0.0
        self.events = 0
        self.events_early = 0  # of those, before the first token
        self.bytes_sent = 0
        self.first_at_s = 0.0  # when the first token came; 0: it has not
        self.last_at_s = clock()
        self.is_done = False
        self.has_error = False
        self.error_event = b""  # the engine's own words when it gave up in the middle
        self.usage: Usage | None = None

    # Called by the engine connection.

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None:
        raise AssertionError("the head came before the relay")

    def on_framed(self, data: bytes, chunks: int) -> None:
        # This runs for every token: `find` and not `in`, which on bytes costs twice as much, and no call that can be
        # done without.
        if (
            chunks == 1
            and data.endswith(b"}\n\n\r\n")
            and data.find(b'"usage"') < 0
            and data.find(b'"error"') < 0
            and self._passes_chunks
            and not self._tail
            and (self.first_at_s or (data.find(TEXT) >= 0 and data.find(NO_TEXT) < 0))
        ):
            self.last_at_s = self._clock()
            if not self.first_at_s:
                self._begin()
            self.events += 1
            if self._words is not None:
                self._words[self._word] = self._before + self.events
            self.bytes_sent += len(data)
            if self._keep is not None:
                self._keep.append(data)
            self._write(data)
        else:
            self._sort(data, chunks)

    def on_payload(self, data: bytes) -> None:
        if self._turns is None:
            self.look(data)
        else:
            self._turns.take(data)

    def look(self, data: bytes) -> None:
        """Bytes whose turn it is."""
        try:
            self._take(data)
        except EngineError as error:
            self._owner.stream_broken(error)
            return
        self._stop_if_over()

    def say(self, edit: EventEdit, data: bytes) -> None:
        """An event that had to wait for its turn."""
        self.last_at_s = self._clock()
        try:
            whole = [b"data: %b\n\n" % one for one in edit(data) if self._is_wanted(b"data: " + one)]
        except EngineError as error:
            self._owner.stream_broken(error)
            return
        self._hear(whole)
        self._stop_if_over()

    @property
    def is_slow(self) -> bool:
        """Whether the client cannot keep up."""
        return self._connection.is_slow

    def _stop_if_over(self) -> None:
        if self._guard is not None and self._guard.is_over and not self.is_done:
            if not self.first_at_s:
                self._begin()
            self.is_done = True
            self._owner.stream_stopped(None)

    def on_end(self) -> None:
        """The engine closed its stream properly; whether the answer was complete is another matter."""
        if self._turns is not None and self._turns.is_behind:
            self._turns.end(self._end)
        else:
            self._end()

    def _end(self) -> None:
        if self._tail or not self.is_done:
            error = EngineBroke("The engine ended its stream before the answer was complete.")
            self._owner.stream_broken(error)
        else:
            self._owner.stream_complete()

    def on_failure(self, error: WireError) -> None:
        if self._turns is not None and self._turns.is_behind:
            self._turns.end(lambda: self._owner.stream_broken(engine_error(error)))
        else:
            self._owner.stream_broken(engine_error(error))

    def _sort(self, data: bytes, chunks: int) -> None:
        """Pass on what is plain at the start of several chunks and look into the rest."""
        if self._passes_chunks and not self._tail and self.first_at_s:
            size = plain_bytes(data, chunks)
            if size:
                plain, data = data[:size], data[size:]
                self._pass(plain, plain.count(EVENT_TAIL))
        if data:
            self.on_payload(unframe(data))

    def _pass(self, data: bytes, events: int) -> None:
        self.last_at_s = self._clock()
        self.events += events
        if self._words is not None:
            self._words[self._word] = self._before + self.events
        self.bytes_sent += len(data)
        if self._keep is not None:
            self._keep.append(data)
        self._write(data)

    def _write(self, data: bytes) -> None:
        """To the client, at once or close behind what was written before together with what comes next."""
        if self.last_at_s - self._written_at_s < QUICK_S and self.events > FIRST_EVENTS:
            self._connection.write_soon(data)
        else:
            self._written_at_s = self.last_at_s
            self._connection.write(data)

    def _begin(self) -> None:
        """The first token has come."""
        self.first_at_s = self.last_at_s
        self.events_early = self.events + len(self._early)
        self._open()

    def _open(self) -> None:
        """What has waited goes out."""
        self._owner.stream_begins()
        if self._early:
            early, self._early = self._early, []
            self._give(early)

    def stop_counting(self) -> None:
        """The request has ended, and its slot is another's soon."""
        self._words = None

    def stop_keeping(self) -> None:
        """The answer has grown too long to be remembered."""
        self._keep = None

    def _take(self, payload: bytes) -> None:
        """Pass whole events on, keep the unfinished one."""
        if self._tail and payload.find(b"\n") < 0:
            self._gather(payload)
            return
        data = b"".join((self._tail, *self._more, payload)).lstrip(b"\r\n")
        self._more, self._more_bytes = [], 0
        whole: list[bytes] = []
        rest = 0
        try:
            for end in ends(data):
                event = data[rest : end.start()]
                rest = end.end()
                whole += [one + b"\n\n" for one in self._edited(event) if self._is_wanted(one)]
        except EngineError:
            self.last_at_s = self._clock()
            self._hear(whole)  # words that came before it are the client's
            raise
        self._tail = data[rest:].lstrip(b"\r\n")
        if len(self._tail) > self._event_bytes_max:
            raise EngineGarbage("The engine sent an event larger than `gateway.event_bytes_max`.")
        if self._tail and not may_become_event(self._tail):
            raise EngineGarbage("The engine sent bytes that are no event stream.")
        self.last_at_s = self._clock()
        self._hear(whole)

    def _hear(self, events: list[bytes]) -> None:
        """Pass events on, from the first token on; those before it wait."""
        if not events:
            return
        if self.first_at_s:
            self._give(events)
            return
        at = usage.first_of_answer(events)
        if at is None and not self.events:
            if not self._early:
                self._early_at_s = self.last_at_s
            self._early += events
            self._early_bytes += sum(map(len, events))
            if self._early_bytes > EARLY_BYTES_MAX or self.last_at_s - self._early_at_s > EARLY_S:
                self._open()
            return
        if at is not None:
            self._begin()
            self.events_early += at
        self._give(events)

    def _give(self, events: list[bytes]) -> None:
        """Events that were looked into."""
        piece = b"".join(events)
        self._pass(chunk(piece) if self._is_chunked else piece, len(events))

    def _gather(self, payload: bytes) -> None:
        """More of an event whose end is not in sight; it is put together once, when that comes."""
        self._more.append(payload)
        self._more_bytes += len(payload)
        self.last_at_s = self._clock()
        if len(self._tail) + self._more_bytes > self._event_bytes_max:
            raise EngineGarbage("The engine sent an event larger than `gateway.event_bytes_max`.")

    def _edited(self, event: bytes) -> tuple[bytes, ...]:
        if self._edit is None:
            return (event,)
        data = try_data(event)
        return (event,) if data is None else tuple(b"data: " + one for one in self._edit(data))

    def _is_wanted(self, event: bytes) -> bool:
        if not event.startswith(FIELDS):
            raise EngineGarbage("The engine sent bytes that are no event stream.")
        is_long = len(event) > usage.LOOKED_INTO_BYTES_MAX
        if not event.startswith(b"data:") or (is_long and event.find(b'"usage"') < 0 and event.find(b'"error"') < 0):
            return True
        data = event[5:].strip()
        if data == b"[DONE]":
            self.is_done = True
            return True
        try:
            news = usage.of_event(data)
        except (ValueError, RecursionError) as error:
            raise EngineGarbage("The engine sent an event that is not JSON.") from error
        if news.usage is not None:
            self.usage = news.usage
        if news.is_error:
            self.has_error = True
            self.error_event = event
            raise EngineBroke("The engine gave up in the middle of its answer.")
        return self._wants_usage or not news.is_usage_only
