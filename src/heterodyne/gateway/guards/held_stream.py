"""A stream that guards elsewhere have to judge first: held until all of it is there, then told like any other.

Nothing of it was sent when it breaks off, so that another replica is asked from the beginning.
"""

from collections.abc import Callable
from typing import Any, Final

from heterodyne.domain.errors import EngineBroke, EngineError, EngineGarbage, HeterodyneError, InternalError
from heterodyne.domain.request import Request
from heterodyne.gateway.collected_stream import collector_of
from heterodyne.gateway.guards.whole import guard_whole
from heterodyne.gateway.offload.answering import TranslatedAnswer
from heterodyne.gateway.offload.process import Offload
from heterodyne.gateway.relay import StreamRelay
from heterodyne.gateway.replay import decode_answer, events_of
from heterodyne.gateway.stream_owner import StreamOwner
from heterodyne.ports.engine import EventEdit
from heterodyne.telemetry import log
from heterodyne.wire.server_connection import ServerConnection

DATA: Final = b"data:"
TOO_LARGE: Final = "The engine's answer is larger than `gateway.answer_bytes_max`."

_log = log.get("gateway")


class HeldStream(StreamRelay):
    """Listens to an engine's stream in the exchange's place, once its head has come."""

    __slots__ = (
        "_bytes_max",
        "_comes",
        "_held",
        "_held_bytes",
        "_holder",
        "_is_complete",
        "_offload",
        "_request",
        "_salt",
        "_tell",
        "_whole",
    )

    def __init__(
        self,
        connection: ServerConnection,
        owner: StreamOwner,
        clock: Callable[[], float],
        *,
        request: Request,
        edit: EventEdit | None,
        offload: Offload,
        salt: bytes,
        comes: Callable[[float], None],
        tell: Callable[[int], StreamRelay],
        bytes_max: int,
        event_bytes_max: int,
    ) -> None:
        """`comes` hears when the first token came; `tell` makes what takes events of so many bytes to the client."""
        super().__init__(connection, owner, clock, wants_usage=True, edit=edit, event_bytes_max=event_bytes_max)
        self._passes_chunks = False
        self._holder = owner
        self._request = request
        self._offload = offload
        self._salt = salt
        self._comes = comes
        self._tell = tell
        self._bytes_max = bytes_max
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._is_complete = False
        self._whole = b""

    def on_payload(self, data: bytes) -> None:
        super().on_payload(data)
        if self.is_done:  # for whoever asks, its client has got nothing yet
            self.is_done, self._is_complete = False, True

    def on_end(self) -> None:
        if self._tail or not self._is_complete:
            self._owner.stream_broken(EngineBroke("The engine ended its stream before the answer was complete."))
            return
        try:
            self._whole = self._collected()
        except EngineError as error:
            self._owner.stream_broken(error)
            return
        answer = TranslatedAnswer([self._whole], self.usage, is_error=False)
        outcome = guard_whole(self._request, answer, self._offload, owner=self._salt, done=self._judged)
        if isinstance(outcome, TranslatedAnswer | HeterodyneError):
            self._judged(outcome)
        else:
            self._holder.wait_for(outcome)

    def _open(self) -> None:
        if self.first_at_s:
            self._comes(self.last_at_s)
        early, self._early = self._early, []
        self._give(early)

    def _give(self, events: list[bytes]) -> None:
        """Events that were looked into, and wait."""
        self.events += len(events)
        self._held += events
        self._held_bytes += sum(map(len, events))
        if self._held_bytes > self._bytes_max:
            raise EngineGarbage(TOO_LARGE)

    def _collected(self) -> bytes:
        collector = collector_of(self._request.operation)
        try:
            for event in self._held:
                if event.startswith(DATA):
                    collector.add(event[len(DATA) :].strip())
        except (LookupError, TypeError, AttributeError) as error:
            raise EngineGarbage("The engine sent an event that is no part of an answer.") from error
        return collector.whole()

    def _judged(self, outcome: TranslatedAnswer | HeterodyneError) -> None:
        if isinstance(outcome, HeterodyneError):
            self._owner.stream_stopped(outcome)
            return
        try:
            self._release(outcome)
        except Exception as error:  # noqa: BLE001  # the root of an answer: our mistake must not leave the client waiting
            _log.error("held_stream_failed", request_id=self._request.id, exc_info=error)
            self._owner.stream_stopped(InternalError("An internal error; the log has the details."))

    def _release(self, answer: TranslatedAnswer) -> None:
        """As the engine told it where nothing was changed, else told anew."""
        events = b"".join(self._held)
        if answer.pieces[0] is not self._whole:
            changed: dict[str, Any] = decode_answer(answer.pieces)
            events = events_of(changed, self._request)
        self._held.clear()
        relay = self._tell(max(len(events), 1))
        relay.on_payload(events)
        # What is learned of the replica is learned of its own events.
        relay.events, relay.events_early = self.events, self.events_early
        relay.first_at_s, relay.last_at_s = self.first_at_s, self.last_at_s
        relay.on_end()
