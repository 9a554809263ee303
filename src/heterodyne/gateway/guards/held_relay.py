"""An answer that passes as it comes, and that policies have to see first: its text is held until all of it is there.

Sounds and pictures are not looked at. A transcript is short beside the sound it was made of, so that nobody waits much
longer for it whole.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from heterodyne.domain.answer_guard import AnswerGuard
from heterodyne.domain.errors import ContentBlocked, EngineGarbage
from heterodyne.domain.request import Request
from heterodyne.gateway.guards.failing import failed
from heterodyne.gateway.passed_relay import DATA, PassedRelay
from heterodyne.gateway.relay import StreamOwner
from heterodyne.wire.chunks import unframe
from heterodyne.wire.message import chunk
from heterodyne.wire.server_connection import ServerConnection

TEXT: Final = (b"text/", b"application/json", b"application/x-subrip", b"application/xml")
EVENTS: Final = b"text/event-stream"
JSON: Final = b"application/json"


def is_text(media_type: bytes) -> bool:
    """Whether there are words in it that somebody reads."""
    return not media_type or media_type.startswith(TEXT)


class HeldRelay(PassedRelay):
    """Listens to an engine's answer in the exchange's place, once its head has come."""

    __slots__ = ("_bytes_max", "_held", "_held_bytes", "_media_type", "_request")

    def __init__(
        self,
        connection: ServerConnection,
        owner: StreamOwner,
        clock: Callable[[], float],
        *,
        request: Request,
        media_type: bytes,
        bytes_max: int,
    ) -> None:
        super().__init__(connection, owner, clock, wants_usage=False)
        self._request = request
        self._media_type = media_type
        self._bytes_max = bytes_max
        self._held: list[bytes] = []
        self._held_bytes = 0

    def on_framed(self, data: bytes, chunks: int) -> None:
        self.on_payload(unframe(data))

    def on_payload(self, data: bytes) -> None:
        self.last_at_s = self._clock()
        self._held.append(data)
        self._held_bytes += len(data)
        if self._held_bytes > self._bytes_max:
            self._owner.stream_broken(EngineGarbage("The engine's answer is larger than `gateway.answer_bytes_max`."))

    def on_end(self) -> None:
        guard, body = self._request.guard, b"".join(self._held)
        assert guard is not None
        try:
            body = self._checked(guard, body)
        except ContentBlocked as error:
            self._owner.stream_stopped(error)
            return
        except Exception as error:  # noqa: BLE001  # a guard's mistake, or bytes that are not what the head said
            failed(self._request.id, "output", error)
            if not guard.only_watches:
                self._owner.stream_broken(EngineGarbage("The answer could not be looked at as policies ask."))
                return
        if body:
            self._send(chunk(body) if self._is_chunked else body, body)
        super().on_end()

    def _checked(self, guard: AnswerGuard, body: bytes) -> bytes:
        if self._media_type.startswith(JSON):
            return guard.check_answer(body)
        if not self._media_type.startswith(EVENTS):
            return guard.check_text(body.decode()).encode()
        return _events(guard, body)


def _events(guard: AnswerGuard, body: bytes) -> bytes:
    """Words that come piece by piece are one text, which the first of these events tells."""
    told: list[dict[str, Any]] = []
    growing: dict[str, Any] | None = None
    for line in body.split(b"\n"):
        data = line[len(DATA) :].strip()
        if not line.startswith(DATA) or data == b"[DONE]":
            continue
        event = msgspec.json.decode(data, type=dict[str, Any])
        if growing is not None and isinstance(event.get("delta"), str):
            growing["delta"] += event["delta"]
            continue
        if isinstance(event.get("delta"), str):
            growing = event
        told.append(event)
    return b"".join(b"data: %b\n\n" % guard.check_answer(msgspec.json.encode(event)) for event in told)
