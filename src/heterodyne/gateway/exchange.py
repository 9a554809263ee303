"""One request in flight, between a client connection and the replicas it is tried on, until exactly one end.

    asking -> whole answer
    asking -> event stream -> (broken -> continued elsewhere)* -> ended

Before the first event of an answer an attempt that fails is repeated elsewhere, within the retry budget, and one that
is unusually late gets a rival. After it, a broken stream is continued from the words the client already has where that
is sound, and ends as an error where it is not.
"""

from functools import partial

from msgspec import structs

from heterodyne.domain.errors import (
    ClientGone,
    DeadlineExceeded,
    EngineError,
    EngineGarbage,
    EngineRefused,
    EngineStalled,
    HeterodyneError,
    InternalError,
)
from heterodyne.domain.fleet import PoolName, Replica
from heterodyne.domain.request import Request, Usage
from heterodyne.domain.usage import ENGINE_ERROR_EVENT
from heterodyne.gateway import render, usage
from heterodyne.gateway.attempt import (
    CALLER_ERROR,
    CANCELLED,
    SUCCESS,
    Attempt,
    outcome_of,
    outcome_of_status,
)
from heterodyne.gateway.backstage import Backstage
from heterodyne.gateway.continued_stream import ContinuedStream
from heterodyne.gateway.decider import NO_REPLICAS
from heterodyne.gateway.decision_log import Decided, decided
from heterodyne.gateway.finished import Finished, Try, end_hold, with_usage
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.hold import Hold
from heterodyne.gateway.offload.answering import ANSWER_BYTES_LARGE, TranslatedAnswer, answer_beside, whole_answer
from heterodyne.gateway.offload.large import LargeCall
from heterodyne.gateway.partial_answer import PartialAnswer, read_partial_answer
from heterodyne.gateway.relay import StreamRelay
from heterodyne.ports.engine import DeliveredText, EngineRequest, EventEdit
from heterodyne.routing.forecast import RoutingChoice
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.tracing.context import Hop, Trace
from heterodyne.wire.server_connection import ServerConnection

NEVER = float("inf")
ATTEMPTS_MAX = 3  # before the first event
CONNECTS_MAX = 10  # the same where nobody was even reached
CONTINUATIONS_MAX = 3
RETRY_AFTER_MAX_S = 3600
ADAPTER_UNKNOWN = (400, 404)  # how engines say that they do not hold it
UNCOUNTED_EVENTS_MAX = 2  # of a stream: who speaks, and why it ended
QUEUED_MIN_S = 0.001  # that a client is told of
REFUSAL_BYTES_MAX = 65536  # of an engine's error that are read
KEPT_BYTES_MAX = 1 << 20  # of one answer: some four thousand tokens

_log = log.get("gateway")


class Exchange:
    """Owns the attempts while they last; leaves what is to be written down when it ends."""

    __slots__ = (
        "_attempts",
        "_back",
        "_bytes_before",
        "_choice",
        "_client",
        "_continuations",
        "_events_before",
        "_failed",
        "_first_byte_at_s",
        "_hedge_at_s",
        "_hold",
        "_is_ended",
        "_is_hedged",
        "_is_paused",
        "_is_plain",
        "_kept",
        "_may_continue",
        "_partial_answer",
        "_request",
        "_retries",
        "_routing_request",
        "_started_at_s",
        "_tries",
        "_winner",
        "_wire",
    )

    def __init__(
        self,
        back: Backstage,
        client: ServerConnection,
        request: Request,
        routing_request: RoutingRequest,
        hold: Hold,
        *,
        is_plain: bool = False,
    ) -> None:
        """`is_plain`: errors are told as the Open Inference Protocol has them, and nothing streams."""
        self._back = back
        self._is_plain = is_plain
        self._client = client
        self._request = request
        self._routing_request = routing_request
        self._hold = hold
        self._choice: RoutingChoice | None = None  # the latest decision, or the winner's
        self._attempts: list[Attempt] = []  # that are not over
        self._winner: Attempt | None = None  # the one whose answer the client gets
        self._wire: ReplicaWire | None = None  # of the replica that was asked last, or won
        self._tries: list[Try] = []
        self._failed = NO_REPLICAS
        self._retries = 0
        self._continuations = 0
        self._bytes_before = 0  # sent by replicas that broke off
        self._events_before = 0  # of theirs, those with words in them
        self._is_hedged = False
        self._hedge_at_s = NEVER
        self._partial_answer: PartialAnswer | None = (
            None  # what earlier replicas said, when this answer is a continued one
        )
        self._may_continue = request.stream and back.settings.continues_streams
        self._kept: list[bytes] | None = [] if self._may_continue or back.audit_recorder is not None else None
        self._started_at_s = back.clock()
        self._first_byte_at_s = 0.0
        self._is_paused = False
        self._is_ended = False

    def start(self, choice: RoutingChoice) -> None:
        """Take a place in the house and ask the first replica; raises what its engine cannot be asked."""
        call = self._call(choice.target)
        self._place(choice)
        self._back.enter(self)
        try:
            self._try(choice, call, earns=True)
        except Exception as error:  # noqa: BLE001  # from here on it holds something, so it ends as every other
            self._mistake("start_failed", error)

    @property
    def decided(self) -> Decided | None:
        """The latest decision; None before the first."""
        choice = self._choice
        return None if choice is None else decided(self._request.id, self._routing_request, choice, None)

    # Called by the client connection.

    def client_gone(self) -> None:
        """Closing the engine's connection is what stops its generation."""
        relay = self._winner.relay if self._winner is not None else None
        if relay is not None and relay.is_done:
            # It has everything; only the engine's last chunk, which says nothing, is still on its way.
            self._end(200, "", relay.usage, relay.bytes_sent, relay)
        else:
            self._end(ClientGone.status, ClientGone.code)

    def client_slow(self) -> None:
        self._is_paused = True
        for attempt in self._attempts:
            attempt.pause()

    def client_ready(self) -> None:
        self._is_paused = False
        for attempt in self._attempts:
            attempt.resume()

    # Called by attempts.

    def attempt_streams(self, attempt: Attempt) -> StreamRelay | None:
        request = self._request
        if not request.stream:
            return None
        edit: EventEdit | None = attempt.wire.dialect.stream_edit(request)
        if self._partial_answer is not None:
            edit = ContinuedStream(self._partial_answer, edit)
        return StreamRelay(
            self._client,
            attempt,
            self._back.clock,
            wants_usage=request.wants_usage,
            edit=edit,
            keep=self._kept,
            slot=self._hold.slot,
            before=self._partial_answer.delivered_text.tokens if self._partial_answer is not None else 0,
            event_bytes_max=self._back.settings.event_bytes_max,
        )

    def attempt_begins(self, attempt: Attempt) -> None:
        """The first to have something to say wins; nothing has been promised to the client before."""
        now_s = self._back.clock()
        self._win(attempt, now_s)
        if not self._first_byte_at_s:
            self._first_byte_at_s = now_s
            client = self._client
            client.write(
                render.stream_head(self._headers(), chunked=client.speaks_chunked, keeps_alive=client.keeps_alive)
            )

    def attempt_completed(self, attempt: Attempt) -> None:
        relay = attempt.relay
        assert relay is not None
        self._over(attempt)
        reported = relay.usage
        if reported is None:
            attempt.end(SUCCESS, output_tokens=relay.events)
        else:
            attempt.end(SUCCESS, output_tokens=reported.completion_tokens, cached_tokens=reported.cached_tokens)
        self._tried(attempt, SUCCESS)
        self._end(200, "", reported, relay.bytes_sent, relay)
        self._client.finish_stream()

    def attempt_unsent(self, attempt: Attempt, error: HeterodyneError) -> None:
        self._refused(attempt, error)

    def attempt_answered(self, attempt: Attempt, pieces: list[bytes]) -> None:
        try:
            answer = self._answer(attempt, pieces)
            if answer is not None:
                self._take_whole(attempt, answer)
        except HeterodyneError as error:
            self._refused(attempt, error)
        except Exception as error:  # noqa: BLE001  # the root of an answer: our mistake must not leave the client waiting
            self._mistake("answer_failed", error)

    def attempt_failed(self, attempt: Attempt, error: EngineError) -> None:
        """Go on elsewhere if that is possible and allowed, else tell the client."""
        if self._is_ended or attempt.is_over:
            return
        relay, replica = attempt.relay, attempt.wire.replica
        if attempt.status in (0, 200):
            outcome = outcome_of(error, has_begun=attempt is self._winner)
        else:
            outcome = outcome_of_status(attempt.status)
        self._over(attempt)
        attempt.end(outcome)
        self._tried(attempt, outcome)
        metrics.attempts_failed.add((replica.model, replica.pool, outcome.value))
        if not self._has_lost_adapter(attempt):
            self._failed |= {replica.id}
        if self._attempts:
            return  # its rival goes on
        if self._first_byte_at_s and self._request.stream:
            if not self._continue(relay):
                self._fail(error, relay)
        elif not self._retry(is_free=outcome is Outcome.CONNECT_FAILED):
            self._fail(_with_retry_after(error, attempt.retry_after))

    # Called by the worker.

    def give_up(self, error: HeterodyneError) -> None:
        """End the answer with this error: there is no more time for it."""
        self._fail(error, self._winner.relay if self._winner is not None else None)

    def check(self, now_s: float) -> None:
        """Enforce the deadline, notice replicas that have fallen silent, and send a rival after one that is late."""
        settings = self._back.settings
        if now_s > self._request.deadline_s:
            self.give_up(DeadlineExceeded(f"The deadline passed after {now_s - self._started_at_s:.1f} s."))
            return
        for attempt in tuple(self._attempts):
            is_stream_to_come = attempt.status == 200 and self._request.stream
            if attempt is self._winner or (attempt.status and not is_stream_to_come):
                silent_s = now_s - attempt.silent_since_s()
                if silent_s > settings.stall_timeout_s and not self._is_paused:
                    self._stalled(attempt, f"The engine fell silent for {settings.stall_timeout_s:g} s.")
            elif now_s - attempt.asked_at_s > settings.first_byte_timeout_s:
                self._stalled(attempt, f"The engine did not answer within {settings.first_byte_timeout_s:g} s.")
        if now_s > self._hedge_at_s:
            self._hedge_at_s = NEVER
            self._hedge()
        if self.kept_bytes > KEPT_BYTES_MAX:
            self.forget_kept()

    @property
    def kept_bytes(self) -> int:
        """What is remembered of the answer in case it has to be continued."""
        if not self._may_continue or self._winner is None or self._winner.relay is None:
            return 0
        return self._bytes_before + self._winner.relay.bytes_sent

    def forget_kept(self) -> None:
        """Remember no more; a break from here on is an error."""
        self._may_continue = False
        if self._back.audit_recorder is not None:
            return
        self._kept = None
        if self._winner is not None and self._winner.relay is not None:
            self._winner.relay.stop_keeping()

    def _try(self, choice: RoutingChoice, call: EngineRequest | LargeCall, *, earns: bool = False) -> None:
        target = choice.forecast.state.replica
        wire = self._back.fleet.wire(target.id)
        self._choice = choice
        self._place(choice)
        attempt = Attempt(
            self,
            self._back,
            wire,
            call,
            routing_request=self._routing_request,
            choice=choice,
            request_id=self._request.id,
            adapter=self._request.model if target.adapters and self._request.model in target.adapters else None,
            earns=earns,
            is_paused=self._is_paused,
            hop=None if self._hold.trace is None else self._hop(self._hold.trace),
        )
        self._attempts.append(attempt)
        self._wire = wire
        if attempt.expected_s and not self._first_byte_at_s and not self._is_hedged:
            self._hedge_at_s = attempt.asked_at_s + attempt.hedge_after_s()
        attempt.start()

    def _hop(self, trace: Trace) -> Hop:
        assert self._back.tracer is not None
        return self._back.tracer.hop(trace)

    def _place(self, choice: RoutingChoice) -> None:
        """Write down where it is sent, where that is news, so that somebody can tell if this worker dies."""
        back, hold = self._back, self._hold
        usage_recorder, replica = back.usage_recorder, choice.forecast.state.replica.id
        if usage_recorder is None or hold.placed_on == replica:
            return
        at = back.wall_clock() - (back.clock() - self._started_at_s)
        forecast = choice.forecast
        hold.slot = usage_recorder.place(
            self._request, self._routing_request, hold.caller, forecast, at=at, slot=hold.slot
        )
        hold.placed_on = replica

    def _retry(self, *, is_free: bool) -> bool:
        """Another replica, if one may be asked and the answer has not begun; a refused connection cost nobody work."""
        back, request = self._back, self._request
        if self._first_byte_at_s or back.clock() > request.deadline_s:
            return False
        if self._retries + 1 >= (CONNECTS_MAX if is_free else ATTEMPTS_MAX):
            return False
        choice = back.decider.try_decide(request, self._routing_request, self._failed)
        call = self._try_call(choice)
        if choice is None or call is None:
            return False
        target = choice.target
        if not is_free and not back.fleet_health.try_retry(
            target.model, self._routing_request.prompt_tokens, back.clock()
        ):
            return False
        self._retries += 1
        metrics.retries.add((target.model, target.pool))
        self._try(choice, call)
        return True

    def _try_call(self, choice: RoutingChoice | None) -> EngineRequest | LargeCall | None:
        """The request in the words of a replica's engine; None where it has no words for it."""
        if choice is None:
            return None
        try:
            return self._call(choice.target)
        except HeterodyneError:
            return None

    def _call(self, target: Replica, delivered_text: DeliveredText | None = None) -> EngineRequest | LargeCall:
        """The same, raising what the engine cannot be asked; that of a large body is made when it is to be sent."""
        request = self._request
        if request.is_large:
            return LargeCall(self._back.offload, request, target, self._hold.caller.salt, delivered_text)
        return self._back.fleet.wire(target.id).dialect.call(request, target)

    def _has_lost_adapter(self, attempt: Attempt) -> bool:
        """Whether the engine only lacks an adapter that it had: then it may be asked again, once, and is given it."""
        if attempt.adapter is None or attempt.status not in ADAPTER_UNKNOWN:
            return False
        was_held = self._back.adapters.doubt(attempt.wire.replica.id, attempt.adapter)
        return was_held and not self._retries

    def _hedge(self) -> None:
        """A rival for an attempt that is unusually late with its first token."""
        if len(self._attempts) != 1 or self._winner is not None or self._is_hedged:
            return
        back, late = self._back, self._attempts[0].wire.replica
        choice = back.decider.try_decide(self._request, self._routing_request, self._failed | {late.id})
        call = self._try_call(choice)
        if choice is None or call is None or choice.target.model != late.model:
            return
        target = choice.target
        adapter = self._attempts[0].adapter
        if adapter is not None and back.adapters.nearness(target, adapter):
            return  # nobody loads an adapter to be quicker
        if not back.fleet_health.try_hedge(target.model):
            return
        self._is_hedged = True
        metrics.hedges.add((target.model, target.pool))
        self._try(choice, call)

    def _win(self, winner: Attempt, now_s: float) -> None:
        self._winner = winner
        self._wire, self._choice = winner.wire, winner.choice
        self._place(winner.choice)
        self._hedge_at_s = NEVER
        winner.first_token(now_s)
        if len(self._attempts) > 1:
            for loser in [attempt for attempt in self._attempts if attempt is not winner]:
                self._over(loser)
                loser.outrun(now_s)
                self._tried(loser, CANCELLED)

    def _stalled(self, attempt: Attempt, message: str) -> None:
        self.attempt_failed(attempt, EngineStalled(message))

    def _answer(self, attempt: Attempt, pieces: list[bytes]) -> TranslatedAnswer | EngineRequest | None:
        """An engine's answer in the client's words; None: they are found beside the worker. Raises what it refuses."""
        dialect, request = attempt.wire.dialect, self._request
        size = sum(map(len, pieces))
        if attempt.status != 200:
            raise dialect.refusal(request, attempt.status, b"".join(pieces)[:REFUSAL_BYTES_MAX])
        if request.stream:
            raise EngineGarbage("The engine answered a stream with something else.")
        if size > ANSWER_BYTES_LARGE:
            attempt.work = answer_beside(
                self._back.offload,
                request,
                attempt.wire.replica,
                pieces,
                owner=self._hold.caller.salt,
                done=partial(self._answered_beside, attempt),
            )
            return None
        return whole_answer(dialect, request, attempt.wire.replica, b"".join(pieces))

    def _answered_beside(self, attempt: Attempt, answer: TranslatedAnswer | EngineRequest | HeterodyneError) -> None:
        attempt.work = None
        if attempt.is_over or self._is_ended:
            return
        try:
            if isinstance(answer, HeterodyneError):
                raise answer
            self._take_whole(attempt, answer)
        except HeterodyneError as error:
            self._refused(attempt, error)
        except Exception as error:  # noqa: BLE001  # as above
            self._mistake("answer_failed", error)

    def _refused(self, attempt: Attempt, error: HeterodyneError) -> None:
        """The answer is an error, of the engine or about the request."""
        is_callers = isinstance(error, EngineRefused) and outcome_of_status(attempt.status) is CALLER_ERROR
        if isinstance(error, EngineError) and not is_callers:
            self.attempt_failed(attempt, error)
        else:
            self._callers_fault(attempt, error)

    def _take_whole(self, attempt: Attempt, answer: TranslatedAnswer | EngineRequest) -> None:
        if isinstance(answer, EngineRequest):
            attempt.again(answer)
            return
        reported = answer.usage
        if answer.is_error:
            raise EngineGarbage("The engine answered 200 and an error.")
        self._first_byte_at_s = now_s = self._back.clock()
        self._win(attempt, now_s)
        headers = render.JSON + self._headers()
        self._over(attempt)
        if reported is None:
            attempt.end(SUCCESS)
        else:
            attempt.end(SUCCESS, output_tokens=reported.completion_tokens, cached_tokens=reported.cached_tokens)
        self._tried(attempt, SUCCESS)
        if self._hold.slot is not None and reported is not None:
            self._hold.slot.delivered = reported.completion_tokens
        if self._back.audit_recorder is not None:
            self._kept = answer.pieces
        self._end(200, "", reported, answer.size)
        client = self._client
        if len(answer.pieces) == 1 and answer.size <= ANSWER_BYTES_LARGE:
            client.finish(render.whole(200, headers, answer.pieces[0], keeps_alive=client.keeps_alive))
            return
        head = render.whole_head(200, headers, answer.size, keeps_alive=client.keeps_alive)
        client.finish_paced(head, answer.pieces)

    def _continue(self, broken: StreamRelay | None) -> bool:
        """Let another replica go on from the words that the client has; False where that is not sound or nobody can."""
        request, client = self._request, self._client
        if self._kept is None or not self._may_continue or self._continuations >= CONTINUATIONS_MAX:
            return False
        try:
            partial_answer = read_partial_answer(self._kept, request.operation, is_chunked=client.speaks_chunked)
        except (ValueError, RecursionError):
            return False
        if partial_answer is None or self._back.clock() > request.deadline_s:
            return False
        events = partial_answer.delivered_text.tokens
        if self._wire is not None:  # an event of its may have held several
            partial_answer = structs.replace(
                partial_answer,
                delivered_text=self._with_estimated_tokens(partial_answer.delivered_text, self._wire.replica.pool),
            )
        if partial_answer.is_complete:
            self._close_in_its_place(partial_answer, broken)
            return True
        found = self._try_successor(partial_answer)
        if found is None:
            return False
        choice, call = found
        target = choice.target
        if not self._back.fleet_health.try_retry(target.model, self._routing_request.prompt_tokens, self._back.clock()):
            return False
        self._partial_answer, self._events_before = partial_answer, events
        self._bytes_before += broken.bytes_sent if broken is not None else 0
        self._continuations += 1
        self._winner = None
        metrics.continuations.add((target.model, target.pool))
        _log.info(
            "stream_continued",
            request_id=request.id,
            replica=target.id,
            tokens_before=partial_answer.delivered_text.tokens,
        )
        self._try(choice, call)
        return True

    def _with_estimated_tokens(self, delivered_text: DeliveredText, pool: PoolName) -> DeliveredText:
        return delivered_text._replace(tokens=self._back.event_tokens.estimate(pool, delivered_text.tokens))

    def _try_successor(self, partial_answer: PartialAnswer) -> tuple[RoutingChoice, EngineRequest | LargeCall] | None:
        """A replica of the same model whose engine can take the answer up, and the call that asks for the rest."""
        assert self._wire is not None
        model, tried = self._wire.replica.model, self._failed
        decider = self._back.decider
        while (choice := decider.try_decide(self._request, self._routing_request, tried)) is not None:
            target = choice.target
            if target.model != model:
                return None
            if self._request.is_large:
                return choice, self._call(target, partial_answer.delivered_text)
            dialect = self._back.fleet.wire(target.id).dialect
            rest = dialect.continuation(self._request, partial_answer.delivered_text)
            if rest is not None:
                return choice, dialect.call(rest, target)
            tried |= {target.id}
        return None

    def _close_in_its_place(self, partial_answer: PartialAnswer, relay: StreamRelay | None) -> None:
        """The model had finished and only the end of the stream was lost: say it for the engine."""
        reported = Usage(
            prompt_tokens=self._routing_request.prompt_tokens,
            completion_tokens=partial_answer.delivered_text.tokens,
            is_estimated=True,
        )
        client = self._client
        if self._request.wants_usage:
            client.write_payload(
                usage.event(self._request, reported, id_=partial_answer.id, created=partial_answer.created)
            )
        client.write_payload(b"data: [DONE]\n\n")
        self._end(200, "", reported, relay.bytes_sent if relay is not None else 0, relay)
        client.finish_stream()

    def _fail(self, error: HeterodyneError, relay: StreamRelay | None = None) -> None:
        """Answer with the error in whichever form is still possible."""
        if self._is_ended:
            return
        client = self._client
        own_words = relay.error_event if relay is not None else b""
        self._end(200 if own_words else error.status, ENGINE_ERROR_EVENT if own_words else error.code, relay=relay)
        if self._first_byte_at_s and self._request.stream:
            client.write_payload(own_words + b"\n\n" if own_words else render.error_event(error))
            client.finish_stream()
        else:
            body = render.plain_error_body(error) if self._is_plain else render.error_body(error)
            headers = render.error_headers(error) + self._headers()
            client.finish(render.whole(error.status, headers, body, keeps_alive=client.keeps_alive))

    def _mistake(self, event: str, error: Exception) -> None:
        _log.error(event, request_id=self._request.id, exc_info=error)
        self._fail(InternalError("An internal error; the log has the details."))

    def _callers_fault(self, attempt: Attempt, error: HeterodyneError) -> None:
        """Nobody else would answer it better; whoever else was asked is told to stop."""
        self._over(attempt)
        for rival in tuple(self._attempts):
            self._over(rival)
            rival.end(CANCELLED)
            self._tried(rival, CANCELLED)
        attempt.end(CALLER_ERROR)
        self._tried(attempt, CALLER_ERROR)
        self._fail(error)

    def _tried(self, attempt: Attempt, outcome: Outcome) -> None:
        """For whoever traces the request."""
        self._tries.append(
            Try(
                attempt.wire.replica,
                attempt.began_at_s,
                attempt.sent_at_s,
                self._back.clock(),
                attempt.status,
                outcome,
                attempt.first_at_s,
                attempt.hop.span_id if attempt.hop is not None else 0,
            )
        )

    def _over(self, attempt: Attempt) -> None:
        if attempt in self._attempts:
            self._attempts.remove(attempt)

    def _end(
        self,
        status: int,
        reason: str,
        reported: Usage | None = None,
        response_bytes: int = 0,
        relay: StreamRelay | None = None,
    ) -> None:
        """Leave the house, exactly once, and before the client is told: its next request may already wait."""
        if self._is_ended:
            return
        self._is_ended = True
        if relay is None and self._winner is not None:
            relay = self._winner.relay
        if relay is not None:
            relay.stop_counting()
        for attempt in self._attempts:
            attempt.end(CANCELLED)
            self._tried(attempt, CANCELLED)
        self._attempts.clear()
        finished = with_usage(self._finished(status, reason, reported, response_bytes, relay), self._back.event_tokens)
        if self._hold.is_counted:
            end_hold(finished)
        self._back.finished(finished)
        self._back.leave(self, self._routing_request.model if self._wire is None else self._wire.replica.model)
        self._winner = self._kept = None  # an attempt points back here, and nobody looks for cycles often

    def _finished(
        self, status: int, reason: str, reported: Usage | None, response_bytes: int, relay: StreamRelay | None
    ) -> Finished:
        events, itl_s = 0, None
        if relay is not None:
            events = relay.events
            counted = relay.usage
            # Some engines count as they go, which is better than counting events if it has kept up with them.
            if reported is None and counted is not None and self._partial_answer is None:
                reported = counted if counted.completion_tokens >= events - UNCOUNTED_EVENTS_MAX else None
            if events > 1:
                itl_s = (relay.last_at_s - relay.first_at_s) / (events - 1)
        events += self._events_before
        return Finished(
            self._request,
            self._routing_request,
            self._hold,
            self._choice,
            self._wire.replica if self._wire is not None else None,
            status,
            reason,
            reported,
            events,
            itl_s,
            self._started_at_s,
            self._first_byte_at_s,
            self._back.clock(),
            self._bytes_before + response_bytes,
            self._retries,
            self._continuations,
            self._is_hedged,
            self._tries,
            self._kept if self._kept and self._back.audit_recorder is not None else [],
            self._request.stream and self._client.speaks_chunked,
        )

    def _headers(self) -> bytes:
        identity, wire, choice = self._back.identity(self._request.id), self._wire, self._choice
        if wire is None or choice is None:
            return identity
        headers = identity + wire.response_headers + wire.decision_header(choice)
        if self._hold.is_counted:
            headers += self._hold.rate_headers(self._back.wall_clock())
        if self._hold.queued_s >= QUEUED_MIN_S:
            headers += b"x-heterodyne-queue-ms: %d\r\n" % round(1000 * self._hold.queued_s)
        model = wire.replica.model
        return headers if model == self._routing_request.model else headers + render.model_header(model)


def _with_retry_after(error: EngineError, delivered_text: bytes | None) -> EngineError:
    """The engine's own advice on when to come back, where it is a number of seconds."""
    if delivered_text is not None and delivered_text.isdigit():
        error.retry_after_s = min(int(delivered_text), RETRY_AFTER_MAX_S)
    return error
