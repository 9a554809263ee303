"""One request in flight, between its client and the replicas it is tried on, until exactly one end.

    asking -> whole answer
    asking -> event stream -> (broken -> continued elsewhere)* -> ended

Which replicas are tried is the business of `race.py`, whether a broken stream may go on that of `continuation.py`.
"""

from typing import Protocol

from heterodyne.domain.errors import (
    ClientGone,
    ContextExceeded,
    DeadlineExceeded,
    EngineError,
    EngineGarbage,
    EngineRefused,
    HeterodyneError,
    InternalError,
)
from heterodyne.domain.request import Request, Usage
from heterodyne.domain.usage import ENGINE_ERROR_EVENT
from heterodyne.gateway import render
from heterodyne.gateway.attempt import Attempt
from heterodyne.gateway.client_answer import ClientAnswer
from heterodyne.gateway.continuation import KEPT_BYTES_MAX, Continuation
from heterodyne.gateway.decision_log import Decided
from heterodyne.gateway.finished import finished_of
from heterodyne.gateway.offload.answering import TranslatedAnswer
from heterodyne.gateway.race import Race, advised
from heterodyne.gateway.relay import StreamRelay
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.gateway.told_relay import ToldRelay
from heterodyne.gateway.whole_answer import read_whole
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.health.outcome import CALLER_ERROR, CANCELLED, Outcome, outcome_of_status
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.telemetry import log

_log = log.get("gateway")


class ExchangeOwner(Protocol):
    """Counts exchanges and lets others start when one has ended."""

    def exchange_started(self, exchange: "Exchange") -> None:
        """It is about to ask its first replica."""

    def exchange_ended(self, exchange: "Exchange", model: str) -> None:
        """It asks none any more; `model` is the one that answered."""


class Exchange:
    """Has one request's race and answer end together, and leaves what is to be written down."""

    __slots__ = ("_answer", "_continuation", "_is_ended", "_log", "_owner", "_race", "_request", "_settings")

    def __init__(
        self,
        owner: ExchangeOwner,
        request_log: RequestLog,
        settings: GatewaySettings,
        answer: ClientAnswer,
        race: Race,
    ) -> None:
        self._owner = owner
        self._log = request_log
        self._settings = settings
        self._answer = answer
        self._race = race
        self._request: Request = race.request
        self._is_ended = False
        self._continuation: Continuation | None = None  # of a stream
        if self._request.stream:
            self._continuation = Continuation(
                race,
                request_log.event_tokens,
                may_continue=settings.continues_streams and not self._request.passes,
                is_audited=request_log.is_audited,
                is_told=answer.stream_form is not None,
            )

    def start(self, choice: RoutingChoice) -> None:
        """Ask the first replica; raises what its engine cannot be asked."""
        race = self._race
        call = race.upstream.call(self._request, choice.target, race.salt)
        race.place(choice)
        self._owner.exchange_started(self)
        try:
            race.ask(self, choice, call, earns=True)
        except Exception as error:  # noqa: BLE001  # from here on it holds something, so it ends as every other
            self._mistake("start_failed", error)

    @property
    def decided(self) -> Decided | None:
        """The latest decision; None before the first."""
        race = self._race
        return None if race.choice is None else Decided(self._request.id, race.routing_request, race.choice, None)

    # Called by the client connection.

    def client_gone(self) -> None:
        """Closing the engine's connection is what stops its generation."""
        relay = self._race.relay
        if relay is not None and relay.is_done:
            # It has everything; only the engine's last chunk, which says nothing, is still on its way.
            self._end(200, "", relay.usage, relay.bytes_sent, relay=relay)
        else:
            self._end(ClientGone.status, ClientGone.code)

    def client_slow(self) -> None:
        self._race.pause()

    def client_ready(self) -> None:
        self._race.resume()

    # Called by attempts.

    def attempt_streams(self, attempt: Attempt) -> StreamRelay | None:
        continuation = self._continuation
        if continuation is None:
            return None
        return self._answer.relay(attempt, self._race, continuation, self._settings.event_bytes_max)

    def attempt_begins(self, attempt: Attempt) -> None:
        """The first to have something to say wins; the client has got nothing before."""
        race, now_s = self._race, self._race.upstream.clock()
        if race.winner is not attempt:
            race.win(attempt, now_s)
        elif not attempt.first_at_s:
            race.first_token(attempt, now_s)
        self._answer.begin_stream(race, now_s)

    def attempt_completed(self, attempt: Attempt) -> None:
        relay = attempt.relay
        assert relay is not None
        self._race.succeed(attempt, relay.usage, events=relay.events)
        self._answer.keep(lambda is_kept: self._finish_stream(relay, relay.usage, is_kept=is_kept))

    def attempt_stopped(self, attempt: Attempt, error: HeterodyneError | None) -> None:
        """A policy has ended its stream, and closing the engine's connection is what stops its generation."""
        if error is not None:
            self._refused(attempt, error)
            return
        relay, race, guard = attempt.relay, self._race, self._answer.stream_guard
        assert guard is not None
        assert race.wire is not None
        tokens = self._log.event_tokens.estimate(race.wire.pool, guard.events)
        reported = Usage(prompt_tokens=race.routing_request.prompt_tokens, completion_tokens=tokens, is_estimated=True)
        race.end(attempt, CANCELLED, output_tokens=tokens)
        self._answer.end_for_engine(guard.id, guard.created, reported)
        self._answer.keep(lambda is_kept: self._finish_stream(relay, reported, is_kept=is_kept))

    def attempt_unsent(self, attempt: Attempt, error: HeterodyneError) -> None:
        self._refused(attempt, error)

    def attempt_answered(self, attempt: Attempt, pieces: list[bytes]) -> None:
        offload, salt = self._race.upstream.offload, self._race.salt
        try:
            answer = read_whole(attempt, self._request, pieces, offload, owner=salt, take=self._take)
        except Exception as error:  # noqa: BLE001  # as in `_take`
            self._mistake("answer_failed", error)
            return
        if answer is not None:
            self._take(attempt, answer)

    def attempt_failed(self, attempt: Attempt, error: EngineError) -> None:
        """Go on elsewhere if that is possible and allowed, else answer with the error."""
        if self._is_ended or attempt.is_over:
            return
        relay, race, answer = attempt.relay, self._race, self._answer
        outcome = race.fail(attempt, error)
        if race.attempts:
            return  # its rival goes on
        if answer.is_streaming:
            if not self._continue(relay):
                self._fail(error, relay)
        elif answer.first_byte_at_s or not race.try_retry(self, is_free=outcome is Outcome.CONNECT_FAILED):
            self._fail(advised(attempt, error))

    # Called by the worker.

    def give_up(self, error: HeterodyneError) -> None:
        """End the answer with this error: there is no more time for it."""
        self._fail(error, self._race.relay)

    def check(self, now_s: float) -> None:
        """Enforce the deadline, and let the race look after its replicas."""
        if now_s > self._request.deadline_s:
            self.give_up(DeadlineExceeded(f"The deadline passed after {now_s - self._race.started_at_s:.1f} s."))
            return
        self._race.check(self, now_s, self._settings)
        continuation = self._continuation
        if continuation is not None and continuation.kept_bytes > KEPT_BYTES_MAX:
            continuation.forget()

    @property
    def kept_bytes(self) -> int:
        """What is remembered of the answer in case it has to be continued."""
        return 0 if self._continuation is None else self._continuation.kept_bytes

    def forget_kept(self) -> None:
        """Remember no more; a break from here on is an error."""
        if self._continuation is not None:
            self._continuation.forget()

    def _take(self, attempt: Attempt, answer: TranslatedAnswer | EngineRequest | HeterodyneError) -> None:
        """What a whole answer has come to."""
        attempt.work = None
        if attempt.is_over or self._is_ended:
            return
        try:
            if isinstance(answer, EngineRequest):
                attempt.again(answer)
            elif isinstance(answer, ContextExceeded) and self._race.try_shorten():
                self._request = self._race.request
                attempt.again(self._race.upstream.call(self._request, attempt.wire.replica, self._race.salt))
            elif isinstance(answer, HeterodyneError):
                self._refused(attempt, answer)
            elif answer.is_error:
                self._refused(attempt, EngineGarbage("The engine answered 200 and an error."))
            else:
                self._take_whole(attempt, answer)
        except Exception as error:  # noqa: BLE001  # the root of an answer: our mistake must not leave the client waiting
            self._mistake("answer_failed", error)

    def _take_whole(self, attempt: Attempt, answer: TranslatedAnswer) -> None:
        race, inside = self._race, answer.pieces
        try:
            answer = self._answer.formed(answer)
        except EngineGarbage as error:
            self._refused(attempt, error)
            return
        self._answer.first_byte_at_s = now_s = race.upstream.clock()
        race.win(attempt, now_s)
        headers = render.JSON + self._answer.headers(race)
        race.succeed(attempt, answer.usage)
        self._answer.keep(lambda is_kept: self._finish_whole(answer, inside, headers, is_kept=is_kept))

    def _finish_whole(self, answer: TranslatedAnswer, inside: list[bytes], headers: bytes, *, is_kept: bool) -> None:
        if self._is_ended:
            return
        if not is_kept:
            answer = self._answer.unkept(answer)
        sent = None if answer.pieces is inside else answer.pieces
        keeps_alive, slot = self._answer.client.keeps_alive, self._race.slot
        if not keeps_alive:  # nothing waits behind it, and what a batch has got is never in the books alone
            self._answer.whole(answer, headers)
        if slot is not None and answer.usage is not None:
            slot.delivered = answer.usage.completion_tokens
        self._end(200, "", answer.usage, answer.size, answer=inside, sent=sent)
        if keeps_alive:
            self._answer.whole(answer, headers)

    def _refused(self, attempt: Attempt, error: HeterodyneError) -> None:
        """The answer is an error of the engine, or about the request, which no other replica would answer better."""
        is_callers = isinstance(error, EngineRefused) and outcome_of_status(attempt.status) is CALLER_ERROR
        if isinstance(error, EngineError) and not is_callers:
            self.attempt_failed(attempt, error)
            return
        for rival in [one for one in self._race.attempts if one is not attempt]:
            self._race.end(rival, CANCELLED)
        self._race.end(attempt, CALLER_ERROR)
        self._fail(error)

    def _continue(self, broken: StreamRelay | None) -> bool:
        """Let another replica go on from the words that the client has; False where that is not sound or possible."""
        continuation = self._continuation
        assert continuation is not None
        sent = continuation.try_read(is_chunked=self._answer.client.speaks_chunked)
        if sent is None:
            return False
        if not sent.is_complete:
            return continuation.try_go_on(self, sent, broken)
        # The model had finished and only the end of the stream was lost.
        tokens, prompt_tokens = sent.delivered_text.tokens, self._race.routing_request.prompt_tokens
        reported = Usage(prompt_tokens=prompt_tokens, completion_tokens=tokens, is_estimated=True)
        self._answer.end_for_engine(sent.id, sent.created, reported)
        self._answer.keep(lambda is_kept: self._finish_stream(broken, reported, is_kept=is_kept))
        return True

    def _finish_stream(self, relay: StreamRelay | None, reported: Usage | None, *, is_kept: bool) -> None:
        """Its client has all of it, but for what tells that it was kept."""
        if self._is_ended:
            return
        answer = self._answer
        last = answer.last_events(is_kept=is_kept)
        if last and isinstance(relay, ToldRelay):
            relay.tell(last)
        self._end(200, "", reported, relay.bytes_sent if relay is not None else 0, relay=relay)
        answer.client.finish_stream()

    def _fail(self, error: HeterodyneError, relay: StreamRelay | None = None) -> None:
        if self._is_ended:
            return
        event = relay.error_event if relay is not None else b""
        if self._request.guard is not None:  # an engine's own words may hold anything
            event, error.message = b"", self._request.guard.check_error(error.message)
        self._end(200 if event else error.status, ENGINE_ERROR_EVENT if event else error.code, relay=relay)
        self._answer.error(error, event, self._race)

    def _mistake(self, event: str, error: Exception) -> None:
        _log.error(event, request_id=self._request.id, exc_info=error)
        self._fail(InternalError("An internal error; the log has the details."))

    def _end(
        self,
        status: int,
        reason: str,
        reported: Usage | None = None,
        response_bytes: int = 0,
        *,
        relay: StreamRelay | None = None,
        answer: list[bytes] | None = None,
        sent: list[bytes] | None = None,
    ) -> None:
        """Leave, exactly once, and before the client hears of it: its next request may already wait."""
        if self._is_ended:
            return
        self._is_ended = True
        race, continuation = self._race, self._continuation
        if continuation is not None:
            answer, sent, relay = continuation.kept, continuation.sent, relay or race.relay
            if relay is not None:
                relay.stop_counting()
        if race.attempts:
            race.cancel()
        self._log.finished(
            finished_of(
                race,
                continuation,
                relay,
                hold=self._answer.hold,
                status=status,
                reason=reason,
                reported=reported,
                first_byte_at_s=self._answer.first_byte_at_s,
                response_bytes=response_bytes,
                answer=answer if answer is not None and self._log.keeps_answers else [],
                sent=sent,
                is_chunked=self._answer.client.speaks_chunked,
            ),
        )
        self._owner.exchange_ended(self, race.routing_request.model if race.wire is None else race.wire.model)
        race.winner = None  # an attempt points back here, and cycles are seldom looked for
