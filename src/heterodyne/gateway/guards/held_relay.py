"""An answer that passes as it comes, and that policies have to see first: its text is held until all of it is there.

Sounds and pictures are not looked at. A transcript is short beside the sound it was made of, so that nobody waits much
longer for it whole.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec

from heterodyne.domain.answer_guard import AnswerGuard
from heterodyne.domain.errors import ContentBlocked, EngineGarbage, HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.gateway.guards.failing import failed
from heterodyne.gateway.guards.quick import is_quick_for, policies_of
from heterodyne.gateway.offload.job import CheckAnswer, Checked, JobFailed, Result, error_of
from heterodyne.gateway.offload.process import Offload
from heterodyne.gateway.passed_relay import DATA, PassedRelay
from heterodyne.gateway.stream_owner import StreamOwner
from heterodyne.safety.policy import only_flag
from heterodyne.safety.remote.judged import Looked, guarded_by
from heterodyne.safety.request_guard import RequestGuard
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

    __slots__ = ("_bytes_max", "_held", "_held_bytes", "_holder", "_media_type", "_offload", "_request", "_salt")

    def __init__(
        self,
        connection: ServerConnection,
        owner: StreamOwner,
        clock: Callable[[], float],
        *,
        request: Request,
        media_type: bytes,
        offload: Offload,
        salt: bytes,
        bytes_max: int,
    ) -> None:
        super().__init__(connection, owner, clock, wants_usage=False)
        self._holder = owner
        self._request = request
        self._media_type = media_type
        self._offload = offload
        self._salt = salt
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
        guard, raw = self._request.guard, b"".join(self._held)
        assert isinstance(guard, RequestGuard)
        try:
            if is_quick_for(guard.plan.output, raw):
                body = self._checked(guard, raw)
            else:
                self._look_beside(guard, raw)
                return
        except ContentBlocked as error:
            self._owner.stream_stopped(error)
        except Exception as error:  # noqa: BLE001  # a guard's mistake, or bytes that are not what the head said
            self._unseen(guard, raw, error)
        else:
            self._ask(guard, raw, body)

    def _look_beside(self, guard: RequestGuard, raw: bytes) -> None:
        """The same with guards that take their time."""
        plan, values = guard.plan, dict(guard.placeholders.values)
        job = CheckAnswer(policies=policies_of(plan.output), values=values, expected=plan.expected)
        done = partial(self._looked, guard, raw)
        self._holder.wait_for(self._offload.submit(job, [self._document(raw)], self._salt, done))

    def _looked(self, guard: RequestGuard, raw: bytes, result: Result, made: bytes) -> None:
        if isinstance(result, JobFailed):
            self._unseen(guard, raw, error_of(result))
            return
        assert isinstance(result, Checked)
        try:
            guard.take(result.guarded)
        except HeterodyneError as error:
            self._owner.stream_stopped(error)
        else:
            self._ask(guard, raw, raw if result.is_same else self._told(made))

    def _unseen(self, guard: RequestGuard, raw: bytes, error: Exception) -> None:
        failed(self._request.id, "output", error)
        if guard.holds_answers or not guard.only_watches:
            self._owner.stream_broken(EngineGarbage("The answer could not be looked at as policies ask."))
        else:
            self._ask(guard, raw, raw)

    def _ask(self, guard: RequestGuard, raw: bytes, body: bytes) -> None:
        """Guards elsewhere, about what those here have let pass."""
        try:
            asked = self._document(raw) if guard.plan.remote_output else b""
        except Exception as error:  # noqa: BLE001  # bytes that are not what the head said
            failed(self._request.id, "output", error)
            if guard.holds_answers:
                self._owner.stream_broken(EngineGarbage("The answer could not be looked at as policies ask."))
                return
            asked = b""
        if guard.looks is not None and asked:
            guard.looks.flag("output", [asked])
            if not only_flag(guard.plan.remote_output):
                self._holder.wait_for(guard.looks.ask("output", [asked], partial(self._judged, guard, body)))
                return
        self._release(body)

    def _judged(self, guard: RequestGuard, body: bytes, looked: Looked) -> None:
        """Guards elsewhere have seen it, which is blocked as a whole."""
        try:
            guard.take(guarded_by(looked, "output"))
            if looked.refusal is not None:
                raise looked.refusal
        except HeterodyneError as error:
            self._owner.stream_stopped(error)
        else:
            self._release(body)

    def _release(self, body: bytes) -> None:
        if body:
            self._send(chunk(body) if self._is_chunked else body, body)
        super().on_end()

    def _document(self, body: bytes) -> bytes:
        """The same in JSON, as guards elsewhere are asked about it."""
        if self._media_type.startswith(JSON):
            return body
        told: Any = _joined(body) if self._media_type.startswith(EVENTS) else body.decode(errors="replace")
        return msgspec.json.encode(told)

    def _told(self, document: bytes) -> bytes:
        """The way back."""
        if self._media_type.startswith(JSON):
            return document
        told: Any = msgspec.json.decode(document)
        if not self._media_type.startswith(EVENTS):
            assert isinstance(told, str)
            return told.encode()
        return b"".join(b"data: %b\n\n" % msgspec.json.encode(event) for event in told)

    def _checked(self, guard: AnswerGuard, body: bytes) -> bytes:
        if self._media_type.startswith(JSON):
            return guard.check_answer(body)
        if not self._media_type.startswith(EVENTS):
            return guard.check_text(body.decode()).encode()
        return _events(guard, body)


def _events(guard: AnswerGuard, body: bytes) -> bytes:
    return b"".join(b"data: %b\n\n" % guard.check_answer(msgspec.json.encode(event)) for event in _joined(body))


def _joined(body: bytes) -> list[dict[str, Any]]:
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
    return told
