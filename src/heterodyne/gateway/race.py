"""The attempts of one request: the first, those that repeat it elsewhere, and a rival for one that is late.

Before the first token of an answer an attempt that fails is repeated elsewhere, within the retry budget, and one that
is unusually late gets a rival; the first to have something to say wins.
"""

from typing import Final

from heterodyne.books.flight_slots import FlightSlot
from heterodyne.domain.errors import EngineError, EngineStalled
from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.request import Request, Usage
from heterodyne.domain.tenant import Caller
from heterodyne.engines.shortened import next_share, shortened
from heterodyne.gateway.attempt import GENERATES, Attempt
from heterodyne.gateway.attempt_owner import AttemptOwner
from heterodyne.gateway.finished_try import Try
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.kv.kv_use import KvUse
from heterodyne.gateway.offload.large import LargeCall
from heterodyne.gateway.relay import StreamRelay
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.gateway.upstream import Upstream
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.fallback import NO_REPLICAS
from heterodyne.routing.health.outcome import CANCELLED, SUCCESS, Outcome, outcome_of, outcome_of_status
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import metrics
from heterodyne.telemetry.tracing.context import Trace

NEVER: Final = float("inf")
ATTEMPTS_MAX: Final = 3  # before the first token
CONNECTS_MAX: Final = 10  # the same where no engine was even reached
RATE_LIMITED: Final = 429
RETRY_AFTER_MAX_S: Final = 3600
ADAPTER_UNKNOWN: Final = (400, 404)  # how engines say that they do not hold it


class Race:
    """Owns the attempts while they last. One per exchange."""

    __slots__ = (
        "_caller",
        "_placed_on",
        "attempts",
        "choice",
        "failed",
        "first_token_at_s",
        "hedge_at_s",
        "is_hedged",
        "is_paused",
        "kv",
        "request",
        "retries",
        "routing_request",
        "salt",
        "slot",
        "started_at_s",
        "trace",
        "tries",
        "upstream",
        "winner",
        "wire",
    )

    def __init__(
        self,
        upstream: Upstream,
        request: Request,
        routing_request: RoutingRequest,
        caller: Caller,
        trace: Trace | None,
    ) -> None:
        self.upstream = upstream
        self.request = request
        self.routing_request = routing_request
        self._caller = caller
        self.salt = routing_request.tenant  # whose request it is, as caches and the offload process know it
        self.started_at_s = upstream.clock()
        self._placed_on: ReplicaId | None = None  # the replica that the slot names
        self.trace = trace
        self.attempts: list[Attempt] = []  # that are not over
        self.choice: RoutingChoice | None = None  # the latest decision, or the winner's
        self.winner: Attempt | None = None  # the one whose answer the client gets
        self.wire: ReplicaWire | None = None  # of the replica that was asked last, or won
        self.tries: list[Try] = []
        self.failed = NO_REPLICAS
        self.retries = 0
        self.first_token_at_s = 0.0  # of the whole request; 0: none has come
        self.is_hedged = False
        self.kv: KvUse | None = None  # of the attempt that KV was to be brought for; None: none was
        self.hedge_at_s = NEVER
        self.is_paused = False
        self.slot: FlightSlot | None = None  # in the books of requests in flight; None: there are no books

    def ask(
        self,
        owner: AttemptOwner[Attempt],
        choice: RoutingChoice,
        call: EngineRequest | LargeCall,
        *,
        earns: bool = False,
        has_begun: bool = False,
    ) -> None:
        """One more attempt; the first of a request `earns` budget for retries, and one that goes on has begun."""
        self.choice = choice
        attempt = Attempt(
            owner, self.upstream, choice, call, self.request, routing_request=self.routing_request, earns=earns
        )
        if self.trace is not None:
            attempt.hop = self.upstream.hop(self.trace)
        if self.is_paused:
            attempt.pause()
        self.attempts.append(attempt)
        if choice.kv_plan is not None and attempt.kv is not None:
            self.kv = attempt.kv
        self.wire = wire = attempt.wire
        if earns and wire.keeps_prompts and attempt.adapter is None and self.request.operation in GENERATES:
            self.upstream.prompts.note(call, wire.replica, self.routing_request, attempt.began_at_s)
        if self.slot is not None and self._placed_on != attempt.wire.replica_id:
            self.place(choice)
        self.hedge_at_s = NEVER
        if attempt.expected_s and not has_begun and not self.is_hedged:
            self.hedge_at_s = attempt.asked_at_s + attempt.hedge_after_s()
        attempt.start()

    def place(self, choice: RoutingChoice) -> None:
        """Write down where it is sent, so that the books have it if this worker dies."""
        place = self.upstream.place
        if place is None:
            return
        self._placed_on = choice.forecast.state.replica_id
        self.slot = place(
            self.request,
            self.routing_request,
            self._caller,
            choice.forecast,
            started_at_s=self.started_at_s,
            slot=self.slot,
        )

    def try_retry(self, owner: AttemptOwner[Attempt], *, is_free: bool) -> bool:
        """Ask another replica, if one may be asked; a refused connection has cost no engine work."""
        upstream, request = self.upstream, self.request
        if upstream.clock() > request.deadline_s or self.retries + 1 >= (CONNECTS_MAX if is_free else ATTEMPTS_MAX):
            return False
        choice = upstream.try_decide(request, self.routing_request, self.failed)
        call = upstream.try_call(request, choice, self.salt)
        if choice is None or call is None:
            return False
        target = choice.target
        if not is_free and not upstream.try_retry(target.model, self.routing_request.prompt_tokens):
            return False
        self.retries += 1
        metrics.retries.add((target.model, target.pool))
        self.ask(owner, choice, call)
        return True

    def try_shorten(self) -> bool:
        """Leave out the oldest turns of what an engine has found too long; False where none may be, or none is left."""
        request, wire = self.request, self.wire
        context_tokens = None if wire is None else wire.replica.context_tokens
        share = next_share(request, self.routing_request.prompt_tokens, context_tokens)
        if share is None:
            return False
        shorter = request.copied()
        shorter.kept_share = share
        if not request.is_large:  # else that is done where its call is made
            was = 1.0 if request.kept_share is None else request.kept_share
            shorter.body = shortened(request.body, share / was)
            if shorter.body is request.body:
                return False
        self.request = shorter
        return True

    def hedge(self, owner: AttemptOwner[Attempt]) -> None:
        """A rival for an attempt that is unusually late with its first token."""
        self.hedge_at_s = NEVER
        if len(self.attempts) != 1 or self.winner is not None or self.is_hedged:
            return
        upstream, first = self.upstream, self.attempts[0]
        late = first.wire.replica
        choice = upstream.try_decide(self.request, self.routing_request, self.failed | {late.id})
        call = upstream.try_call(self.request, choice, self.salt)
        if choice is None or call is None or choice.target.model != late.model:
            return
        target = choice.target
        if first.adapter is not None and upstream.adapters.nearness(target, first.adapter):
            return  # loading an adapter is never quicker
        if not upstream.selector.health.try_hedge(target.model):
            return
        self.is_hedged = True
        metrics.hedges.add((target.model, target.pool))
        self.ask(owner, choice, call)

    def win(self, winner: Attempt, now_s: float) -> None:
        """This one's answer goes to the client; its rivals stop."""
        self.winner = winner
        self.wire, self.choice = winner.wire, winner.choice
        if self.slot is not None and self._placed_on != winner.wire.replica_id:
            self.place(winner.choice)
        self.hedge_at_s = NEVER
        relay = winner.relay
        if relay is None or relay.first_at_s:  # else it has only said that it works on it
            self.first_token(winner, now_s)
        if len(self.attempts) > 1:
            for loser in [attempt for attempt in self.attempts if attempt is not winner]:
                self.attempts.remove(loser)
                self.tries.append(loser.outrun(now_s))

    def first_token(self, winner: Attempt, now_s: float) -> None:
        """What the client waits for has begun to come."""
        if not self.first_token_at_s:
            self.first_token_at_s = now_s
        winner.first_token(now_s)

    def end(
        self, attempt: Attempt, outcome: Outcome, *, output_tokens: int = 0, cached_tokens: int | None = None
    ) -> None:
        """This attempt is over."""
        if attempt in self.attempts:
            self.attempts.remove(attempt)
        self.tries.append(attempt.end(outcome, output_tokens=output_tokens, cached_tokens=cached_tokens))

    def succeed(self, attempt: Attempt, reported: Usage | None, *, events: int = 0) -> None:
        """This one gave the whole answer; where its engine did not count, tokens are as many as its events."""
        if reported is None:
            self.end(attempt, SUCCESS, output_tokens=events)
        else:
            self.end(attempt, SUCCESS, output_tokens=reported.completion_tokens, cached_tokens=reported.cached_tokens)

    def fail(self, attempt: Attempt, error: EngineError) -> Outcome:
        """This attempt has failed; its replica is not asked again for this request."""
        if attempt.status in (0, 200):
            outcome = outcome_of(error, has_begun=attempt is self.winner, was_sent=attempt.sent_at_s > 0.0)
        else:
            outcome = outcome_of_status(attempt.status)
        self.end(attempt, outcome)
        if attempt.status == RATE_LIMITED and error.retry_after_s is not None:
            attempt.hold_back(error.retry_after_s)
        replica = attempt.wire.replica
        metrics.attempts_failed.add((replica.model, replica.pool, outcome.value))
        if not self._has_lost_adapter(attempt):
            self.failed |= {replica.id}
        return outcome

    def check(self, owner: AttemptOwner[Attempt], now_s: float, settings: GatewaySettings) -> None:
        """Notice replicas that have fallen silent, and send a rival after one that is late."""
        for attempt in tuple(self.attempts):
            attempt.check(now_s)
            is_stream_to_come = attempt.status == 200 and self.request.stream
            if attempt is self.winner or (attempt.status and not is_stream_to_come):
                silent_s = now_s - attempt.silent_since_s()
                if silent_s > settings.stall_timeout_s and not self.is_paused:
                    error = f"The engine fell silent for {settings.stall_timeout_s:g} s."
                    owner.attempt_failed(attempt, EngineStalled(error))
            elif now_s - attempt.asked_at_s > settings.first_byte_timeout_s:
                error = f"The engine did not answer within {settings.first_byte_timeout_s:g} s."
                owner.attempt_failed(attempt, EngineStalled(error))
        if now_s > self.hedge_at_s:
            self.hedge(owner)

    @property
    def relay(self) -> StreamRelay | None:
        """The stream that the client gets; None: it gets none yet."""
        return None if self.winner is None else self.winner.relay

    def cancel(self) -> None:
        """No answer is wanted any more."""
        for attempt in self.attempts:
            self.tries.append(attempt.end(CANCELLED))
        self.attempts.clear()

    def pause(self) -> None:
        """The client cannot keep up."""
        self.is_paused = True
        for attempt in self.attempts:
            attempt.pause()

    def resume(self) -> None:
        """It can again."""
        self.is_paused = False
        for attempt in self.attempts:
            attempt.resume()

    def _has_lost_adapter(self, attempt: Attempt) -> bool:
        """Whether the engine only lacks an adapter that it had: then it may be asked again, once, and is given it."""
        if attempt.adapter is None or attempt.status not in ADAPTER_UNKNOWN:
            return False
        was_held = self.upstream.adapters.doubt(attempt.wire.replica_id, attempt.adapter)
        return was_held and not self.retries


def advised(attempt: Attempt, error: EngineError) -> EngineError:
    """With the engine's own advice on when to come back, where it is a number of seconds."""
    seconds = attempt.retry_after
    if seconds is not None and seconds.isdigit():
        error.retry_after_s = min(int(seconds), RETRY_AFTER_MAX_S)
    return error
