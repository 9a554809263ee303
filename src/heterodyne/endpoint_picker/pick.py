"""One request that a proxy forwards to the replica we chose: what it holds there, and what its answer teaches.

A pick is to the endpoint picker what an exchange is to the gateway, except that the bytes are another's.
"""

from collections.abc import Callable
from typing import Final

from heterodyne.admission.hold import Hold
from heterodyne.domain.errors import ClientGone, DeadlineExceeded, EngineBroke, EngineRefused, HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.endpoint_picker.answer_watch import AnswerWatch
from heterodyne.gateway.decision_log import Decided
from heterodyne.gateway.finished import Finished
from heterodyne.gateway.finished_try import Try
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.forms.passing import OPENAI
from heterodyne.gateway.in_flight import InFlight
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.upstream import Upstream
from heterodyne.ports.adapters import AdapterUse
from heterodyne.routing.health.outcome import CANCELLED, SUCCESS, Outcome, outcome_of_status
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

OK: Final = 200


class Pick:
    """Holds a place on the replica until it ends, exactly once. One per request that was let through."""

    def __init__(
        self,
        upstream: Upstream,
        in_flight: InFlight,
        request_log: RequestLog,
        *,
        request: Request,
        routing_request: RoutingRequest,
        hold: Hold,
        choice: RoutingChoice,
        ended: Callable[[str], None],
    ) -> None:
        """`ended` hears of the model that may have room for another."""
        choice = choice.plainly()  # the proxy forwards it at once
        self.request, self.routing_request, self.choice = request, routing_request, choice
        self.wire = wire = upstream.fleet.wire(choice.forecast.state.replica_id)
        self._upstream, self._in_flight, self._log, self._hold = upstream, in_flight, request_log, hold
        self._ended = ended
        self.began_at_s = now_s = upstream.clock()
        place = upstream.place
        self._slot = (  # before anything is held: whoever cannot be written down is not let through
            None
            if place is None
            else place(request, routing_request, hold.caller, choice.forecast, started_at_s=now_s, slot=None)
        )
        self._sent_at_s = 0.0  # when the proxy was told; 0: it has not been
        self._first_byte_at_s = 0.0
        self._status = 0  # of the answer; 0: its head has not come
        self._watch: AnswerWatch | None = None
        self._is_over = False
        self.adapter = request.model if wire.has_adapters and request.model in wire.replica.adapters else None
        is_loading = self.adapter is not None and upstream.adapters.nearness(wire.replica, self.adapter)
        self.use: AdapterUse | None = None
        if self.adapter is not None:
            self.use = upstream.adapters.use(wire.replica, self.adapter)
        self._expected_s = choice.alone_s if wire.is_shared and routing_request.streams and not is_loading else 0.0
        is_tracked = not choice.is_repeated and not is_loading
        self._ticket = upstream.router.start(routing_request, choice.forecast, now_s) if is_tracked else None
        self._health = upstream.selector.health.of(wire.replica_id)
        self._trial = self._health.on_start(now_s, routing_request.prompt_tokens)
        upstream.limit.occupy(wire.replica_id)
        in_flight.exchange_started(self)

    @property
    def decided(self) -> Decided | None:
        """For whoever asks why."""
        return Decided(self.request.id, self.routing_request, self.choice, None)

    @property
    def kept_bytes(self) -> int:
        """Nothing of an answer is kept: a proxy's stream cannot be continued by us."""
        return 0

    def forget_kept(self) -> None:
        """There is nothing to forget."""

    def told(self) -> None:
        """The proxy knows where to."""
        self._sent_at_s = self._upstream.clock()

    def answer_begins(self, status: int, headers: dict[bytes, bytes], *, is_unreached: bool) -> None:
        """The head of an answer; `is_unreached`: the proxy made it, because it could not reach the replica."""
        self._status, self._watch = status, AnswerWatch(headers)
        if is_unreached:
            self.end(Outcome.CONNECT_FAILED, status, "engine_unavailable")

    def answer_continues(self, piece: bytes) -> None:
        """Bytes of it."""
        watch = self._watch
        if watch is None or self._is_over:
            return
        now_s, had_first = self._upstream.clock(), watch.first_at_s
        self._first_byte_at_s = self._first_byte_at_s or now_s
        watch.feed(piece, now_s)
        if watch.first_at_s and not had_first and self._status == OK:
            if self._ticket is not None:
                self._ticket.first_token(now_s)
            if (self._expected_s or self._trial) and watch.is_stream:
                took_s = now_s - (self._sent_at_s or self.began_at_s)
                self._health.on_first_token(now_s, self._expected_s, took_s, self._trial)

    def answer_ends(self, form: ClientForm = OPENAI) -> None:
        """All of it has passed the proxy."""
        watch, status = self._watch, self._status
        if self._is_over or watch is None:
            return
        watch.end()
        if status != OK:
            self.end(outcome_of_status(status), status, EngineRefused.code)
        elif watch.is_error or (watch.is_stream and form is OPENAI and not watch.is_done):
            self.end(Outcome.BROKE, EngineBroke.status, EngineBroke.code)
        else:
            self.end(SUCCESS, status, "")

    def gone(self) -> None:
        """The proxy asks nothing more about it: its client has left, or what it watched of the answer is all."""
        if self._status and (self._watch is None or not self._watch.bytes):
            self.end(outcome_of_status(self._status), self._status, "" if self._status == OK else EngineRefused.code)
        else:
            self.end(CANCELLED, ClientGone.status, ClientGone.code)

    def check(self, now_s: float) -> None:
        """Past its deadline nobody waits for it, whatever the proxy does with the rest."""
        if now_s > self.request.deadline_s:
            self.give_up(DeadlineExceeded("The deadline passed."))

    def give_up(self, error: HeterodyneError) -> None:
        """It counts no longer."""
        self.end(CANCELLED, error.status, error.code)

    def end(self, outcome: Outcome, status: int, reason: str) -> None:
        """Give back what it holds, once, and leave what is to be written down."""
        if self._is_over:
            return
        self._is_over = True
        upstream, wire, watch = self._upstream, self.wire, self._watch
        now_s, reported = upstream.clock(), None if watch is None else watch.usage
        events = watch.events if watch is not None and watch.is_stream else 0
        if self.use is not None:
            self.use.end()
        if self._ticket is not None:
            is_counted = outcome is SUCCESS and (reported is not None or events > 0)
            self._ticket.end(
                now_s,
                output_tokens=events if reported is None else reported.completion_tokens,
                cached_tokens=None if reported is None else reported.cached_tokens,
                is_complete=is_counted,
            )
        self._health.on_end(outcome, now_s, self._trial)
        upstream.limit.vacate(wire.replica_id)
        self._log.finished(self._finished(outcome, status, reason, now_s))
        self._in_flight.exchange_ended(self, wire.model)
        self._ended(wire.model)

    def _finished(self, outcome: Outcome, status: int, reason: str, now_s: float) -> Finished:
        watch = self._watch
        first_at_s = 0.0 if watch is None else watch.first_at_s
        tried = Try(
            self.wire.replica,
            self.began_at_s,
            self._sent_at_s,
            now_s,
            status=self._status,
            outcome=outcome,
            first_at_s=first_at_s,
        )
        return Finished(
            request=self.request,
            routing_request=self.routing_request,
            hold=self._hold,
            choice=self.choice,
            wire=self.wire,
            status=status,
            reason=reason,
            reported=None if watch is None else watch.usage,
            events=0 if watch is None else watch.events,
            itl_s=None if watch is None else watch.itl_s,
            started_at_s=self.began_at_s,
            first_byte_at_s=self._first_byte_at_s,
            first_token_at_s=first_at_s,
            ended_at_s=now_s,
            response_bytes=0 if watch is None else watch.bytes,
            retries=0,
            continuations=0,
            is_hedged=False,
            tries=[tried],
            slot=self._slot,
            answer=[],
        )
