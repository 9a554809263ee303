"""A kept answer on its way to a client: past the policies of today, in the words of its API, as if it came just now."""

from collections.abc import Callable
from typing import Final

from heterodyne.admission.hold import Hold
from heterodyne.domain.errors import ClientGone, EngineError, HeterodyneError, InternalError
from heterodyne.domain.request import Request, Usage
from heterodyne.gateway import render, usage
from heterodyne.gateway.admission_gate import AdmissionGate
from heterodyne.gateway.client_answer import ClientAnswer
from heterodyne.gateway.finished import Finished
from heterodyne.gateway.guards.whole import guard_whole, is_guarded
from heterodyne.gateway.offload.answering import TranslatedAnswer
from heterodyne.gateway.offload.process import Offload, PendingWork
from heterodyne.gateway.relay import StreamRelay
from heterodyne.gateway.replay import decode_answer, events_of, renewed, whole_of
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.routed_head import Arrival
from heterodyne.gateway.told_relay import ToldRelay
from heterodyne.gateway.upstream import Upstream
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import log
from heterodyne.telemetry.tracing.context import Trace
from heterodyne.wire.responder import Responder

_log = log.get("gateway")

EVENT_BYTES_MAX: Final = 1 << 20  # an answer that is kept is shorter


class ReadyAnswer:
    """Answers one request without a replica; ends exactly once."""

    __slots__ = (
        "_answer",
        "_clock",
        "_hold",
        "_is_ended",
        "_log",
        "_offload",
        "_relay",
        "_request",
        "_routing_request",
        "_sent",
        "_started_at_s",
        "_told",
        "_trace",
        "_work",
    )

    def __init__(
        self,
        answer: ClientAnswer,
        request: Request,
        routing_request: RoutingRequest,
        hold: Hold,
        trace: Trace | None,
        *,
        request_log: RequestLog,
        offload: Offload,
        clock: Callable[[], float],
    ) -> None:
        self._answer = answer
        self._request = request
        self._routing_request = routing_request
        self._hold = hold
        self._trace = trace
        self._log = request_log
        self._offload = offload
        self._clock = clock
        self._started_at_s = clock()
        self._work: PendingWork | None = None  # of policies on a long answer, and of guards elsewhere
        self._relay: StreamRelay | None = None  # of one that streams
        self._sent: list[bytes] = []  # as OpenAI's events, and as the client's API has them, where that is kept
        self._told: list[bytes] = []
        self._is_ended = False

    def start(self, body: bytes, now_wall_s: float) -> None:
        """Tell the answer that was kept."""
        try:
            answer = renewed(body, self._request, now_wall_s)
            if self._request.stream and not self._is_held:
                self._stream(events_of(answer, self._request))
            else:
                self._whole(whole_of(answer))
        except Exception as error:  # noqa: BLE001  # the root of an answer: our mistake must not leave the client waiting
            _log.error("cached_answer_failed", request_id=self._request.id, exc_info=error)
            self._fail(InternalError("An internal error; the log has the details."))

    # Called by the client connection.

    def client_gone(self) -> None:
        if self._work is not None:
            self._work.cancel()
        self._end(ClientGone.status, ClientGone.code)

    def client_slow(self) -> None:
        """All of it is there already."""

    def client_ready(self) -> None:
        """All of it is there already."""

    # Called by the relay of a stream.

    @property
    def is_over(self) -> bool:
        return self._is_ended

    def pause(self) -> None:
        """All of it is there already."""

    def resume(self) -> None:
        """All of it is there already."""

    def wait_for(self, work: PendingWork) -> None:
        self._work = work

    def stream_begins(self) -> None:
        self._answer.begin_stream(None, self._clock())

    def stream_complete(self) -> None:
        relay = self._relay
        assert relay is not None
        self._keep_stream(relay, relay.usage)

    def stream_broken(self, error: EngineError) -> None:
        self._fail(error)

    def stream_stopped(self, error: HeterodyneError | None) -> None:
        relay, guard = self._relay, self._answer.stream_guard
        if error is not None or relay is None or guard is None:
            self._fail(error or InternalError("An internal error; the log has the details."))
            return
        reported = relay.usage or Usage(is_estimated=True)
        self._answer.end_for_engine(guard.id, guard.created, reported)
        self._keep_stream(relay, reported)

    @property
    def _is_held(self) -> bool:
        """Whether nothing of a stream is sent before guards elsewhere have judged all of it."""
        guard = self._request.guard
        return guard is not None and guard.holds_answers and is_guarded(self._request)

    def _stream(self, events: bytes) -> None:
        is_kept = self._log.keeps_answers
        self._relay = relay = self._answer.relay_of(
            self,
            self._clock,
            None,
            offload=self._offload,
            salt=self._routing_request.tenant,
            keep=self._sent if is_kept else None,
            sent=self._told if is_kept else None,
            is_judged=self._is_held,
            event_bytes_max=EVENT_BYTES_MAX,
        )
        relay.on_payload(events)
        if not self._is_ended:
            relay.on_end()

    def _keep_stream(self, relay: StreamRelay, reported: Usage | None) -> None:
        self._answer.keep(lambda is_kept: self._finish_stream(relay, reported, is_kept=is_kept))

    def _finish_stream(self, relay: StreamRelay, reported: Usage | None, *, is_kept: bool) -> None:
        if self._is_ended:
            return
        last = self._answer.last_events(is_kept=is_kept)
        if last and isinstance(relay, ToldRelay):
            relay.tell(last)
        sent = self._told if self._answer.stream_form is not None else None
        self._end(200, "", reported, relay.bytes_sent, answer=self._sent, sent=sent)
        self._answer.client.finish_stream()

    def _whole(self, body: bytes) -> None:
        reported, _ = usage.of_answer(body)
        answer = TranslatedAnswer([body], reported, is_error=False)
        if not is_guarded(self._request):
            self._take(answer)
            return
        owner = self._routing_request.tenant
        guarded = guard_whole(self._request, answer, self._offload, owner=owner, done=self._take)
        if isinstance(guarded, TranslatedAnswer | HeterodyneError):
            self._take(guarded)
        else:
            self._work = guarded

    def _take(self, answer: TranslatedAnswer | HeterodyneError) -> None:
        self._work = None
        if self._is_ended:
            return
        if isinstance(answer, HeterodyneError):
            self._fail(answer)
            return
        if self._request.stream:
            self._stream(events_of(decode_answer(answer.pieces), self._request))
            return
        try:
            formed = self._answer.formed(answer)
        except EngineError as error:
            self._fail(error)
            return
        self._answer.first_byte_at_s = self._clock()
        self._answer.keep(lambda is_kept: self._finish_whole(formed, answer.pieces, is_kept=is_kept))

    def _finish_whole(self, formed: TranslatedAnswer, inside: list[bytes], *, is_kept: bool) -> None:
        if self._is_ended:
            return
        answer = formed if is_kept else self._answer.unkept(formed)
        sent = None if answer.pieces is inside else answer.pieces
        self._end(200, "", answer.usage, answer.size, answer=inside, sent=sent)
        self._answer.whole(answer, render.JSON + self._answer.headers(None))

    def _fail(self, error: HeterodyneError) -> None:
        if self._is_ended:
            return
        self._end(error.status, error.code)
        self._answer.error(error, b"", None)

    def _end(
        self,
        status: int,
        reason: str,
        reported: Usage | None = None,
        response_bytes: int = 0,
        *,
        answer: list[bytes] | None = None,
        sent: list[bytes] | None = None,
    ) -> None:
        """Leave, exactly once, and before the client hears of it."""
        if self._is_ended:
            return
        self._is_ended = True
        self._log.finished(
            Finished(
                request=self._request,
                routing_request=self._routing_request,
                hold=self._hold,
                choice=None,
                wire=None,
                status=status,
                reason=reason,
                reported=reported or Usage(is_estimated=True),
                events=0 if self._relay is None else self._relay.events,
                itl_s=None,
                started_at_s=self._started_at_s,
                first_byte_at_s=self._answer.first_byte_at_s,
                first_token_at_s=self._answer.first_byte_at_s,
                ended_at_s=self._clock(),
                response_bytes=response_bytes,
                retries=0,
                continuations=0,
                is_hedged=False,
                tries=[],
                trace=self._trace,
                answer=answer if answer is not None and self._log.keeps_answers else [],
                sent=sent,
                is_answer_chunked=self._request.stream and self._answer.client.speaks_chunked,
            )
        )
        self._relay = None  # it points back here, and cycles are seldom looked for


class ReadyAnswers:
    """Begins them, for whoever has found an answer. One per worker."""

    def __init__(
        self, gate: AdmissionGate, upstream: Upstream, request_log: RequestLog, wall_clock: Callable[[], float]
    ) -> None:
        self._gate = gate
        self._upstream = upstream
        self._request_log = request_log
        self._wall_clock = wall_clock

    def begin(
        self, arrival: Arrival, request: Request, routing_request: RoutingRequest, trace: Trace | None, body: bytes
    ) -> Responder:
        """Tell this answer, in OpenAI's words, to whoever asked."""
        hold = Hold(arrival.caller, arrival.arrived_s, arrival.waited_s)
        answer = ReadyAnswer(
            self._gate.client_answer(arrival.connection, request, hold, arrival.route.form),
            request,
            routing_request,
            hold,
            trace,
            request_log=self._request_log,
            offload=self._upstream.offload,
            clock=self._upstream.clock,
        )
        answer.start(body, self._wall_clock())
        return answer
