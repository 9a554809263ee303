"""One request in flight, between a client connection and an engine connection, until exactly one end.

    waiting for a connection -> waiting for the head -> whole answer | event stream -> ended

Retries happen only before the first byte of an answer. After it, the answer is completed or ends as an error.
"""

from heterodyne.domain.errors import (
    ClientGone,
    DeadlineExceeded,
    EngineError,
    EngineGarbage,
    EngineStalled,
    HeterodyneError,
    InternalError,
)
from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request, Usage
from heterodyne.gateway import render, usage
from heterodyne.gateway.backstage import Backstage
from heterodyne.gateway.relay import StreamRelay
from heterodyne.ports.engine import Call
from heterodyne.telemetry import log, metrics
from heterodyne.wire.chunks import unframe
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.server_connection import ServerConnection

ATTEMPTS_MAX = 3

_log = log.get("gateway")


class Exchange:
    """Owns the engine connection while it lasts; writes one record when it ends."""

    __slots__ = (
        "_attempts",
        "_back",
        "_call",
        "_client",
        "_engine",
        "_failed",
        "_first_byte_at_s",
        "_heard_at_s",
        "_is_ended",
        "_is_paused",
        "_pieces",
        "_pieces_bytes",
        "_relay",
        "_request",
        "_started_at_s",
        "_status",
        "_wire",
    )

    def __init__(self, back: Backstage, client: ServerConnection, request: Request, target: Replica) -> None:
        self._back = back
        self._client = client
        self._request = request
        self._wire = back.fleet.wire(target.id)
        self._call = self._wire.dialect.call(request, target)
        self._engine: ClientConnection | None = None
        self._relay: StreamRelay | None = None
        self._pieces: list[bytes] = []
        self._pieces_bytes = 0
        self._status = 0  # of the engine's answer; 0 before its head
        self._attempts = 0
        self._failed: frozenset[ReplicaId] = frozenset()
        self._started_at_s = self._heard_at_s = back.clock()
        self._first_byte_at_s = 0.0
        self._is_paused = False
        self._is_ended = False

    def start(self) -> None:
        """Take a place in the house and ask the engine."""
        self._back.enter(self, self._wire.replica)
        self._ask(fresh=False)

    # Called by the client connection.

    def client_gone(self) -> None:
        """Closing the engine's connection is what stops its generation."""
        self._end(ClientGone.status, ClientGone.code)

    def client_slow(self) -> None:
        self._is_paused = True
        if self._engine is not None:
            self._engine.pause()

    def client_ready(self) -> None:
        self._is_paused = False
        self._heard_at_s = self._back.clock()
        if self._engine is not None:
            self._engine.resume()

    # Called by the engine connection.

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None:
        self._status = status
        self._heard_at_s = self._first_byte_at_s = self._back.clock()
        is_stream = headers.get(b"content-type", b"").startswith(b"text/event-stream")
        if status == 200 and is_stream and self._request.stream:
            assert self._engine is not None
            self._relay = StreamRelay(
                self._client,
                self,
                self._back.clock,
                wants_usage=self._request.wants_usage,
                edit=self._wire.dialect.stream_edit(self._request),
            )
            self._engine.listener = self._relay
            self._client.write(
                render.stream_head(
                    self._headers(), chunked=self._client.speaks_chunked, keeps_alive=self._client.keeps_alive
                )
            )

    def on_framed(self, data: bytes, chunks: int) -> None:
        self.on_payload(unframe(data))

    def on_payload(self, data: bytes) -> None:
        """A piece of a whole answer; streams go to their relay."""
        self._heard_at_s = self._back.clock()
        self._pieces_bytes += len(data)
        if self._pieces_bytes > self._back.settings.answer_bytes_max:
            self._fail(EngineGarbage("The engine's answer is larger than `gateway.answer_bytes_max`."))
            return
        self._pieces.append(data)

    def on_end(self) -> None:
        self._engine = None
        try:
            self._end_whole(b"".join(self._pieces))
        except HeterodyneError as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001  # the root of an answer: our mistake must not leave the client waiting
            _log.error("answer_failed", request_id=self._request.id, exc_info=error)
            self._fail(InternalError("An internal error; the log has the details."))

    def on_failure(self, error: EngineError) -> None:
        engine, self._engine = self._engine, None
        is_stale = engine is not None and engine.requests_sent > 1 and not engine.has_answered
        if self._status == 0 and self._attempts < ATTEMPTS_MAX:
            if is_stale:
                # A kept connection that the engine closed as we wrote to it says nothing about the engine.
                self._retry(fresh=True)
                return
            if self._try_elsewhere():
                return
        self._fail(error)

    # Called by the relay of a stream.

    def stream_complete(self) -> None:
        relay, self._engine = self._relay, None
        assert relay is not None
        self._end(200, "engine_error_event" if relay.has_error else "", relay.usage, relay.bytes_sent)
        self._client.finish_stream()

    def stream_broken(self, error: EngineError) -> None:
        self._fail(error)

    # Called by the worker.

    def give_up(self, error: HeterodyneError) -> None:
        """End the answer with this error: there is no more time for it."""
        self._fail(error)

    def check(self, now_s: float) -> None:
        """Enforce the deadline and notice an engine that has fallen silent."""
        times = self._back.settings
        if now_s > self._request.deadline_s:
            self._fail(DeadlineExceeded(f"The deadline passed after {now_s - self._started_at_s:.1f} s."))
        elif self._status == 0:
            if now_s - self._heard_at_s > times.first_byte_timeout_s:
                self._fail(EngineStalled(f"The engine did not answer within {times.first_byte_timeout_s:g} s."))
        elif not self._is_paused:
            heard_at_s = self._relay.last_at_s if self._relay is not None else 0.0
            if now_s - max(heard_at_s, self._heard_at_s) > times.stall_timeout_s:
                self._fail(EngineStalled(f"The engine fell silent for {times.stall_timeout_s:g} s."))

    def _ask(self, *, fresh: bool) -> None:
        self._attempts += 1
        self._back.pool.lend(self._wire.address, self._connected, self._unconnected, fresh=fresh)

    def _connected(self, engine: ClientConnection) -> None:
        if self._is_ended:
            engine.release()
            return
        self._engine = engine
        path, body = self._call
        engine.send(self, self._wire.request_head(path, self._request.id, len(body)), body)
        if self._is_paused:
            engine.pause()

    def _unconnected(self, error: EngineError) -> None:
        if self._is_ended:
            return
        if self._attempts < ATTEMPTS_MAX and self._try_elsewhere():
            return
        self._fail(error)

    def _retry(self, *, fresh: bool) -> None:
        metrics.retries.add((self._request.model, self._wire.replica.pool))
        self._ask(fresh=fresh)

    def _try_elsewhere(self) -> bool:
        """Ask another replica of the model, if one is ready and the request has had no answer yet."""
        failed = self._wire.replica
        self._failed |= {failed.id}
        target = self._back.try_decide(self._request, self._failed)
        if target is None:
            return False
        self._back.move(failed, target)
        self._wire = self._back.fleet.wire(target.id)
        self._call = self._wire.dialect.call(self._request, target)
        self._retry(fresh=False)
        return True

    def _end_whole(self, body: bytes) -> None:
        dialect = self._wire.dialect
        if self._status != 200:
            raise dialect.refusal(self._request, self._status, body)
        answer = dialect.answer(self._request, self._wire.replica, body)
        if isinstance(answer, Call):
            self._call, self._pieces, self._pieces_bytes, self._status = answer, [], 0, 0
            self._ask(fresh=False)
            return
        try:
            reported = usage.of_answer(answer)
        except (ValueError, RecursionError) as error:
            raise EngineGarbage("The engine's answer is not JSON.") from error
        self._end(200, "", reported, len(answer))
        client = self._client
        client.finish(render.whole(200, render.JSON + self._headers(), answer, keeps_alive=client.keeps_alive))

    def _fail(self, error: HeterodyneError) -> None:
        """Answer with the error in whichever form is still possible."""
        if self._is_ended:
            return
        relay, client = self._relay, self._client
        self._end(error.status, error.code)
        if relay is not None:
            client.write_payload(render.error_event(error))
            client.finish_stream()
        else:
            body = render.error_body(error)
            headers = render.error_headers(error) + self._headers()
            client.finish(render.whole(error.status, headers, body, keeps_alive=client.keeps_alive))

    def _end(self, status: int, reason: str, reported: Usage | None = None, response_bytes: int = 0) -> None:
        """Leave the house, exactly once, and before the client is told: its next request may already wait."""
        if self._is_ended:
            return
        self._is_ended = True
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.cancel()
        self._back.leave(self, self._wire.replica)
        self._back.finished(self._record(status, reason, reported, response_bytes), self._request)
        self._relay = None  # it points back here, and nobody looks for cycles often

    def _record(self, status: int, reason: str, reported: Usage | None, response_bytes: int) -> RequestRecord:
        now_s, request, relay = self._back.clock(), self._request, self._relay
        events = relay.events if relay is not None else 0
        if reported is None:
            reported = Usage(
                prompt_tokens=self._back.tokens.estimate(request.model, request.prompt_chars) if self._status else 0,
                completion_tokens=events,
                is_estimated=True,
            )
        itl_ms = None
        if relay is not None and events > 1:
            itl_ms = (relay.last_at_s - relay.first_at_s) * 1000 / (events - 1)
        return RequestRecord(
            id=request.id,
            at=self._back.wall_clock() - (now_s - self._started_at_s),
            operation=request.operation,
            model=request.model,
            pool=self._wire.replica.pool,
            replica=self._wire.replica.id,
            status=status,
            reason=reason,
            stream=request.stream,
            prompt_tokens=reported.prompt_tokens,
            cached_tokens=reported.cached_tokens,
            completion_tokens=reported.completion_tokens,
            is_estimated=reported.is_estimated,
            ttft_ms=(self._first_byte_at_s - self._started_at_s) * 1000 if self._first_byte_at_s else None,
            itl_ms=itl_ms,
            total_ms=(now_s - self._started_at_s) * 1000,
            request_bytes=len(request.body),
            response_bytes=response_bytes,
        )

    def _headers(self) -> bytes:
        return self._back.identity(self._request.id) + self._wire.response_headers
