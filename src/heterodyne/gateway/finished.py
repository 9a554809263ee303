"""What is known of a request at its end, kept until there is time to write it down.

The next request waits while this one ends, so only facts are gathered then; records are made of many at once, when
the code that makes them has the processor's caches to itself.
"""

from math import inf
from typing import Final, final

from heterodyne.admission.event_tokens import EventTokens
from heterodyne.admission.hold import Hold
from heterodyne.books.flight_slots import FlightSlot
from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.errors import ClientGone, DeadlineExceeded, EngineStalled
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.outcome import is_fault
from heterodyne.domain.record import FailedTry
from heterodyne.domain.request import Request, Usage
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway.continuation import Continuation
from heterodyne.gateway.finished_try import Try
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
INTERACTIVE: Final = Urgency.INTERACTIVE
NO_TOKENS: Final = Usage()  # tensors have none
KEPT: Final = "kept"
BROKEN: Final = "broken"
# Ends that find an engine at work, for as long as the caller let it: that work is the caller's. So is an answer that
# was to come whole and took longer than any may; a stream that never began was failed by its replica.
AT_WORK: Final = (ClientGone.code, DeadlineExceeded.code)
AT_WORK_WHOLE: Final = (*AT_WORK, EngineStalled.code)
UNCOUNTED_EVENTS_MAX: Final = 2  # of a stream: who speaks, and why it ended
BLAMELESS: Final = (Outcome.SUCCESS, Outcome.CANCELLED)


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
        "hold",
        "is_answer_chunked",
        "is_hedged",
        "itl_s",
        "reason",
        "replica",
        "reported",
        "request",
        "response_bytes",
        "retries",
        "routing_request",
        "slot",
        "started_at_s",
        "status",
        "trace",
        "tries",
    )

    def __init__(
        self,
        *,
        request: Request,
        routing_request: RoutingRequest,
        hold: Hold,
        choice: RoutingChoice | None,
        replica: Replica | None,
        status: int,
        reason: str,
        reported: Usage | None,
        events: int,
        itl_s: float | None,
        started_at_s: float,
        first_byte_at_s: float,
        ended_at_s: float,
        response_bytes: int,
        retries: int,
        continuations: int,
        is_hedged: bool,
        tries: list[Try],
        slot: FlightSlot | None = None,
        trace: Trace | None = None,
        answer: list[bytes],
        is_answer_chunked: bool = False,
    ) -> None:
        self.request = request
        self.routing_request = routing_request
        self.hold = hold
        self.choice = choice  # the latest decision, or that of whoever answered; None: nobody was asked
        self.replica = replica
        self.status = status
        self.reason = reason
        self.reported = reported  # None: the engine did not count, and nobody has estimated it yet
        self.events = events  # streamed to the client, by all replicas together
        self.itl_s = itl_s
        self.started_at_s = started_at_s
        self.first_byte_at_s = first_byte_at_s  # 0: there was none
        self.ended_at_s = ended_at_s
        self.response_bytes = response_bytes
        self.retries = retries
        self.continuations = continuations
        self.is_hedged = is_hedged
        self.tries = tries  # the one that answered is the last, where one did
        self.slot = slot  # in the books; None: there are none
        self.trace = trace  # None: it is not traced
        self.answer = answer  # as it was sent, where it is audited
        self.is_answer_chunked = is_answer_chunked


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
        if events > 1:
            itl_s = (relay.last_at_s - relay.first_at_s) / (events - 1)
    return Finished(
        request=race.request,
        routing_request=race.routing_request,
        hold=hold,
        choice=race.choice,
        replica=race.wire.replica if race.wire is not None else None,
        status=status,
        reason=reason,
        reported=reported,
        events=events_before + events,
        itl_s=itl_s,
        started_at_s=race.started_at_s,
        first_byte_at_s=first_byte_at_s,
        ended_at_s=race.upstream.clock(),
        response_bytes=response_bytes,
        retries=race.retries,
        continuations=continuations,
        is_hedged=race.is_hedged,
        tries=race.tries,
        slot=race.slot,
        trace=race.trace,
        answer=answer,
        is_answer_chunked=race.request.stream and is_chunked,
    )


def count_usage(finished: Finished, event_tokens: EventTokens) -> None:
    """Note what it used, as the engine counted or as far as we can tell: said once, for limits and books."""
    if finished.request.operation is INFER:
        finished.reported = NO_TOKENS
    elif finished.reported is None:
        finished.reported = _used(finished, event_tokens)


def ended_of(finished: Finished, epoch_s: float) -> EndedRequest:
    """What is written down of it; `epoch_s` is when the worker's clock stood at zero."""
    request, replica, choice, reported = finished.request, finished.replica, finished.choice, finished.reported
    assert reported is not None, "an end says what was used"
    started_at_s, first_byte_at_s, itl_s = finished.started_at_s, finished.first_byte_at_s, finished.itl_s
    model = replica.model if replica is not None else finished.routing_request.model
    forecast, caller = choice.forecast if choice is not None else None, finished.hold.caller
    trace = finished.trace
    usd, share_s = None, 0.0
    if forecast is not None and _is_charged(finished):
        share_s, usd = _took(forecast.state, reported)
    ended = EndedRequest()
    ended.id = request.id
    ended.at = epoch_s + started_at_s
    ended.operation = request.operation
    ended.model = model
    ended.asked_model = request.model if model != request.model else ""
    if replica is not None:
        ended.pool, ended.replica, ended.hardware = replica.pool, replica.id, replica.hardware or ""
    ended.status = finished.status
    ended.reason = finished.reason
    ended.stream = request.stream
    ended.prompt_tokens = reported.prompt_tokens
    ended.cached_tokens = reported.cached_tokens or 0
    ended.completion_tokens = reported.completion_tokens
    ended.reasoning_tokens = reported.reasoning_tokens
    ended.is_estimated = reported.is_estimated
    ended.ttft_ms = (first_byte_at_s - started_at_s) * 1000 if first_byte_at_s and request.stream else None
    ended.itl_ms = itl_s * 1000 if itl_s is not None else None
    ended.total_ms = (finished.ended_at_s - started_at_s) * 1000
    ended.request_bytes = len(request.body)
    ended.response_bytes = finished.response_bytes
    ended.retries = finished.retries
    ended.continuations = finished.continuations
    ended.is_hedged = finished.is_hedged
    ended.tenant = caller.project
    ended.key = caller.key
    ended.tier = caller.tier
    ended.urgency = "" if finished.routing_request.urgency is INTERACTIVE else finished.routing_request.urgency
    ended.queue_ms = finished.hold.queued_s * 1000 if finished.hold.queued_s else None
    ended.decision = choice.reason if choice is not None else ""
    if forecast is not None:
        ended.predicted_ttft_ms, ended.predicted_itl_ms = forecast.ttft_s * 1000, forecast.itl_s * 1000
        ended.is_hosted_price = forecast.state.is_by_token
    ended.usd = usd if usd is not None and usd < inf else None
    ended.replica_s = share_s
    ended.promise = _slo_outcome(finished, reported.completion_tokens)
    ended.overhead_ms = _overhead_s(finished) * 1000
    ended.connect_ms = _connect_s(finished) * 1000 if first_byte_at_s and finished.tries else None
    ended.trace = trace.name if trace is not None else ""
    ended.failed_tries = _failed_tries(finished) if finished.retries or finished.continuations else ()
    return ended


def end_hold(finished: Finished) -> None:
    """Tell whoever counts what the request used.

    What was never sent used nothing, and what the fleet failed is not its caller's. What an engine refused for a fault
    of the caller's counts as a request without tokens: it was sent, and nothing was computed.
    """
    hold, choice, used = finished.hold, finished.choice, finished.reported
    if used is not None and choice is not None and _is_charged(finished):
        share_s, usd = _took(choice.forecast.state, used)
        hold.end(tokens=used.prompt_tokens + used.completion_tokens, usd=0.0 if usd == inf else usd, share_s=share_s)
    elif finished.tries and finished.tries[-1].outcome is Outcome.CALLER_ERROR:
        hold.end(tokens=0, usd=0.0, share_s=0.0)
    else:
        hold.cancel()


def _slo_outcome(finished: Finished, tokens: int) -> str:
    """What the request waited for its turn is part of what its client waited for the first token. Of an answer that
    comes whole nobody sees the first token: it has as long as a stream of its tokens would have had."""
    routing_request, hold = finished.routing_request, finished.hold
    if routing_request.ttft_slo_s == inf and routing_request.itl_slo_s == inf:
        return ""
    if finished.reason:  # what the caller did wrong, or may not, says nothing of the fleet
        return BROKEN if is_fault(finished.status, finished.reason) else ""
    if not finished.first_byte_at_s:
        return BROKEN
    first_s = finished.first_byte_at_s - finished.started_at_s + hold.queued_s
    if not finished.request.stream:
        return KEPT if first_s <= routing_request.ttft_slo_s + routing_request.itl_slo_s * tokens else BROKEN
    itl_s = finished.itl_s
    return (
        KEPT
        if first_s <= routing_request.ttft_slo_s and (itl_s is None or itl_s <= routing_request.itl_slo_s)
        else BROKEN
    )


def _failed_tries(finished: Finished) -> tuple[FailedTry, ...]:
    """Those that another try had to make good; a rival that was stopped has failed nobody."""
    return tuple(FailedTry(one.replica.id, str(one.outcome)) for one in finished.tries if one.outcome not in BLAMELESS)


def _overhead_s(finished: Finished) -> float:
    if not finished.tries:
        return 0.0
    hold = finished.hold
    return max(0.0, finished.tries[0].asked_at_s - hold.arrived_s - hold.queued_s)


def _connect_s(finished: Finished) -> float:
    last = finished.tries[-1]
    return max(0.0, last.sent_at_s - last.asked_at_s)


def _is_charged(finished: Finished) -> bool:
    """Whether an engine has worked on it and its caller answers for that: from when it was sent, not from when the
    first byte came back."""
    if finished.first_byte_at_s:
        return True
    ends = AT_WORK if finished.request.stream else AT_WORK_WHOLE
    return finished.reason in ends and any(one.sent_at_s for one in finished.tries)


def _used(finished: Finished, event_tokens: EventTokens) -> Usage:
    return Usage(
        prompt_tokens=finished.routing_request.prompt_tokens if _is_charged(finished) else 0,
        completion_tokens=_generated(finished, event_tokens),
        is_estimated=True,
    )


def _generated(finished: Finished, event_tokens: EventTokens) -> int:
    """What was streamed; of an answer that was to come whole, what should have been done when its caller left."""
    request, replica, choice = finished.request, finished.replica, finished.choice
    if finished.events and replica is not None:
        return event_tokens.estimate(replica.pool, finished.events)
    if request.stream or finished.first_byte_at_s or request.operation not in GENERATES:
        return 0
    if choice is None or not _is_charged(finished):
        return 0
    forecast, sent_at_s = choice.forecast, max(one.sent_at_s for one in finished.tries)
    decoding_s = finished.ended_at_s - sent_at_s - forecast.ttft_s
    # It may have waited behind others, so it is never charged more than was set aside for it.
    return int(min(finished.routing_request.output_tokens, max(0.0, decoding_s) / max(forecast.itl_s, ITL_MIN_S)))


def _took(state: ReplicaState, used: Usage) -> tuple[float, float]:
    """Of the replica's time, and in dollars, which are infinite where nobody says what it costs."""
    share_s = state.speed.share_s(used.prompt_tokens, used.cached_tokens or 0, used.completion_tokens)
    usd = state.replica.price.usd(used.prompt_tokens, used.completion_tokens, share_s)
    return share_s, inf if usd is None else usd
