"""What is known of a request at its end, kept until there is time to write it down.

The next request waits while this one ends, so only facts are gathered then; records are made of many at once, when
the code that makes them has the processor's caches to itself.
"""

from math import inf
from typing import Final, final

from heterodyne.admission.event_tokens import EventTokens
from heterodyne.admission.hold import Hold
from heterodyne.books.flight_slots import FlightSlot
from heterodyne.domain.errors import ClientGone, DeadlineExceeded, EngineStalled
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request, Usage
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway.continuation import Continuation
from heterodyne.gateway.finished_try import Try
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.kv.kv_use import KvUse
from heterodyne.gateway.race import Race
from heterodyne.gateway.relay import StreamRelay
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry.tracing.context import Trace

ITL_MIN_S: Final = 1e-6
GENERATES: Final = (Operation.CHAT, Operation.COMPLETION)
INFER: Final = Operation.INFER
BATCH: Final = Urgency.BATCH
NO_TOKENS: Final = Usage()  # tensors have none
# Ends that find an engine at work, for as long as the caller let it: that work is the caller's. So is an answer that
# was to come whole and took longer than any may; a stream that never began was failed by its replica.
AT_WORK: Final = (ClientGone.code, DeadlineExceeded.code)
AT_WORK_WHOLE: Final = (*AT_WORK, EngineStalled.code)
UNCOUNTED_EVENTS_MAX: Final = 2  # of a stream: who speaks, and why it ended


@final
class Finished:
    """One request, however it ended. Times are of the worker's own clock."""

    __slots__ = (
        "answer",
        "choice",
        "continuations",
        "ended_at_s",
        "events",
        "first_byte_at_s",
        "first_token_at_s",
        "hold",
        "is_answer_chunked",
        "is_hedged",
        "itl_s",
        "kv",
        "reason",
        "reported",
        "request",
        "response_bytes",
        "retries",
        "routing_request",
        "sent",
        "slot",
        "started_at_s",
        "status",
        "trace",
        "tries",
        "wire",
    )

    def __init__(
        self,
        *,
        request: Request,
        routing_request: RoutingRequest,
        hold: Hold,
        choice: RoutingChoice | None,
        wire: ReplicaWire | None,
        status: int,
        reason: str,
        reported: Usage | None,
        events: int,
        itl_s: float | None,
        started_at_s: float,
        first_byte_at_s: float,
        first_token_at_s: float,
        ended_at_s: float,
        response_bytes: int,
        retries: int,
        continuations: int,
        is_hedged: bool,
        tries: list[Try],
        slot: FlightSlot | None = None,
        trace: Trace | None = None,
        answer: list[bytes],
        sent: list[bytes] | None = None,
        is_answer_chunked: bool = False,
        kv: KvUse | None = None,
    ) -> None:
        self.request = request
        self.routing_request = routing_request
        self.hold = hold
        self.choice = choice  # the latest decision, or that of whoever answered; None: nobody was asked
        self.wire = wire  # of the replica that was asked last, or answered; None: nobody was asked
        self.status = status
        self.reason = reason
        self.reported = reported  # None: the engine did not count, and nobody has estimated it yet
        self.events = events  # streamed to the client, by all replicas together
        self.itl_s = itl_s
        self.started_at_s = started_at_s
        self.first_byte_at_s = first_byte_at_s  # 0: there was none
        self.first_token_at_s = first_token_at_s  # of a stream, or of a whole answer its first byte; 0: there was none
        self.ended_at_s = ended_at_s
        self.response_bytes = response_bytes
        self.retries = retries
        self.continuations = continuations
        self.is_hedged = is_hedged
        self.tries = tries  # the one that answered is the last, where one did
        self.slot = slot  # in the books; None: there are none
        self.trace = trace  # None: it is not traced
        self.answer = answer  # as it was sent, where it is audited or compared
        self.sent = sent  # the same in the words of another API; None: it was sent as it is
        self.is_answer_chunked = is_answer_chunked
        self.kv = kv  # what was to be brought for it; None: nothing was


def finished_of(
    race: Race,
    continuation: Continuation | None,
    relay: StreamRelay | None,
    *,
    hold: Hold,
    status: int,
    reason: str,
    reported: Usage | None,
    first_byte_at_s: float,
    response_bytes: int,
    answer: list[bytes],
    sent: list[bytes] | None,
    is_chunked: bool,
) -> Finished:
    """The facts of one request; `relay` is the stream that the client got, if it got one."""
    events, events_before, itl_s, continuations = 0, 0, None, 0
    if continuation is not None:
        events_before, continuations = continuation.events_before, continuation.count
        response_bytes += continuation.bytes_before
    if relay is not None:
        events = relay.events
        counted = relay.usage
        # Some engines count as they go, which is better than counting events if it has kept up with them.
        if reported is None and counted is not None and not continuations:
            reported = counted if counted.completion_tokens >= events - UNCOUNTED_EVENTS_MAX else None
        gaps = events - relay.events_early - 1
        if gaps > 0 and relay.first_at_s:
            itl_s = (relay.last_at_s - relay.first_at_s) / gaps
    return Finished(
        request=race.request,
        routing_request=race.routing_request,
        hold=hold,
        choice=race.choice,
        wire=race.wire,
        status=status,
        reason=reason,
        reported=reported,
        events=events_before + events,
        itl_s=itl_s,
        started_at_s=race.started_at_s,
        first_byte_at_s=first_byte_at_s,
        first_token_at_s=race.first_token_at_s,
        ended_at_s=race.upstream.clock(),
        response_bytes=response_bytes,
        retries=race.retries,
        continuations=continuations,
        is_hedged=race.is_hedged,
        tries=race.tries,
        slot=race.slot,
        trace=race.trace,
        answer=answer,
        sent=sent,
        is_answer_chunked=race.request.stream and is_chunked,
        kv=race.kv,
    )


def count_usage(finished: Finished, event_tokens: EventTokens) -> None:
    """Note what it used, as the engine counted or as far as we can tell: said once, for limits and books."""
    if finished.request.operation is INFER:
        finished.reported = NO_TOKENS
    elif finished.reported is None:
        finished.reported = _used(finished, event_tokens)


def end_hold(finished: Finished) -> None:
    """Tell whoever counts what the request used.

    What was never sent used nothing, and what the fleet failed is not its caller's. What an engine refused for a fault
    of the caller's counts as a request without tokens: it was sent, and nothing was computed.
    """
    hold, choice, used = finished.hold, finished.choice, finished.reported
    if used is not None and choice is not None and is_charged(finished):
        share_s, usd = took(finished, choice.forecast.state, used)
        hold.end(tokens=used.prompt_tokens + used.completion_tokens, usd=0.0 if usd == inf else usd, share_s=share_s)
    elif finished.tries and finished.tries[-1].outcome is Outcome.CALLER_ERROR:
        hold.end(tokens=0, usd=0.0, share_s=0.0)
    else:
        hold.cancel()


def settle_cache(finished: Finished) -> None:
    """Tell whoever keeps answers whether this is one: whole, by one replica, to all that was asked."""
    request, wire, choice, used = finished.request, finished.wire, finished.choice, finished.reported
    assert request.cache is not None
    is_whole = not finished.reason and not finished.continuations and request.kept_share in (None, 1.0)
    usd = 0.0
    if is_whole and choice is not None and used is not None:
        usd = took(finished, choice.forecast.state, used)[1]
    request.cache.settle(
        is_whole=is_whole,
        model="" if wire is None else wire.model,
        version="" if wire is None else wire.replica.version or "",
        usd=usd if usd < inf else 0.0,
    )


def is_charged(finished: Finished) -> bool:
    """Whether an engine has worked on it and its caller answers for that: from when it was sent, not from when the
    first byte came back."""
    if finished.first_byte_at_s:
        return True
    ends = AT_WORK if finished.request.stream else AT_WORK_WHOLE
    return finished.reason in ends and any(one.sent_at_s for one in finished.tries)


def _used(finished: Finished, event_tokens: EventTokens) -> Usage:
    return Usage(
        prompt_tokens=finished.routing_request.prompt_tokens if is_charged(finished) else 0,
        completion_tokens=_generated(finished, event_tokens),
        is_estimated=True,
    )


def _generated(finished: Finished, event_tokens: EventTokens) -> int:
    """What was streamed; of an answer that was to come whole, what should have been done when its caller left."""
    request, wire, choice = finished.request, finished.wire, finished.choice
    if finished.events and wire is not None:
        return event_tokens.estimate(wire.pool, finished.events)
    if request.stream or finished.first_byte_at_s or request.operation not in GENERATES:
        return 0
    if choice is None or not is_charged(finished):
        return 0
    forecast, sent_at_s = choice.forecast, max(one.sent_at_s for one in finished.tries)
    decoding_s = finished.ended_at_s - sent_at_s - forecast.ttft_s
    # It may have waited behind others, so it is never charged more than was set aside for it.
    return int(min(finished.routing_request.output_tokens, max(0.0, decoding_s) / max(forecast.itl_s, ITL_MIN_S)))


def took(finished: Finished, state: ReplicaState, used: Usage) -> tuple[float, float]:
    """Of the replicas' time, and in dollars, which are infinite where nobody says what it costs."""
    prompt, cached, answer = used.prompt_tokens, used.cached_tokens or 0, used.completion_tokens
    kv = finished.kv
    if kv is not None and used.cached_tokens is None:
        cached = min(kv.tokens, max(prompt - 1, 0))  # engines need not tell what came from elsewhere
    share_s = state.speed.share_s(prompt, cached, answer)
    usd = state.usd(prompt, answer, share_s, cached, used.cache_write_tokens)
    if kv is not None and (prefill := kv.prefilled_by) is not None:
        prefill_s = prefill.speed.share_s(prompt, 0, 1)
        share_s, usd = share_s + prefill_s, usd + prefill.usd(prompt, 1, prefill_s)
    if finished.routing_request.urgency is BATCH and not state.is_by_token:
        usd *= finished.hold.caller.batch_price
    return share_s, usd
