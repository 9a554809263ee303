"""Makes of the facts of an end what is written down of it."""

from math import inf
from typing import Final

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.outcome import is_fault
from heterodyne.domain.record import FailedTry
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway.finished import Finished, is_charged, took
from heterodyne.routing.health.outcome import Outcome

INTERACTIVE: Final = Urgency.INTERACTIVE
KEPT: Final = "kept"
BROKEN: Final = "broken"
BLAMELESS: Final = (Outcome.SUCCESS, Outcome.CANCELLED)


def ended_of(finished: Finished, epoch_s: float) -> EndedRequest:
    """What is written down of it; `epoch_s` is when the worker's clock stood at zero."""
    request, routing_request, wire, hold = finished.request, finished.routing_request, finished.wire, finished.hold
    caller, trace, cache = hold.caller, finished.trace, request.cache
    ended = EndedRequest()
    ended.id = request.id
    ended.at = epoch_s + finished.started_at_s
    ended.operation = request.operation
    ended.cache, ended.saved_usd = ("", None) if cache is None else (cache.outcome, cache.saved_usd)
    if wire is not None:
        model = wire.model
        ended.pool, ended.replica, ended.hardware = wire.pool, wire.replica_id, wire.hardware
    else:
        model = routing_request.model
        ended.replica = ended.hardware = ""
        ended.pool = "" if cache is None else cache.pool
    ended.model = model
    ended.asked_model = request.model if model != request.model else ""
    ended.status = finished.status
    ended.reason = finished.reason
    ended.stream = request.stream
    ended.request_bytes = len(request.body)
    ended.response_bytes = finished.response_bytes
    ended.retries = finished.retries
    ended.continuations = finished.continuations
    ended.is_hedged = finished.is_hedged
    ended.tenant = caller.project
    ended.key = caller.key
    ended.tier = caller.tier
    ended.urgency = "" if routing_request.urgency is INTERACTIVE else routing_request.urgency
    ended.trace = trace.name if trace is not None else ""
    ended.cascade = request.cascade
    ended.guards = () if request.guard is None else tuple(request.guard.verdicts)
    ended.failed_tries = _failed_tries(finished) if finished.retries or finished.continuations else ()
    _note_use(ended, finished)
    _note_kv(ended, finished)
    _note_times(ended, finished)
    return ended


def _note_use(ended: EndedRequest, finished: Finished) -> None:
    """What it used, and what that was to be."""
    choice, reported = finished.choice, finished.reported
    assert reported is not None, "an end says what was used"
    ended.prompt_tokens = reported.prompt_tokens
    ended.cached_tokens = reported.cached_tokens or 0
    ended.completion_tokens = reported.completion_tokens
    ended.reasoning_tokens = reported.reasoning_tokens
    ended.is_estimated = reported.is_estimated
    ended.promise = _slo_outcome(finished, reported.completion_tokens)
    ended.usd, ended.replica_s = None, 0.0
    if choice is None:
        ended.decision, ended.is_hosted_price = "", False
        if ended.pool:  # without a replica, at no cost
            ended.usd = 0.0
        ended.predicted_ttft_ms = ended.predicted_itl_ms = None
        return
    forecast = choice.forecast
    ended.decision = choice.reason
    ended.predicted_ttft_ms, ended.predicted_itl_ms = forecast.ttft_s * 1000, forecast.itl_s * 1000
    ended.is_hosted_price = forecast.state.is_by_token
    if is_charged(finished):
        ended.replica_s, usd = took(finished, forecast.state, reported)
        if usd < inf:
            ended.usd = usd


def _note_kv(ended: EndedRequest, finished: Finished) -> None:
    """Where its KV came from, and what that was worth against the forecast of computing it."""
    kv, choice = finished.kv, finished.choice
    ended.kv_origin, ended.kv_bytes, ended.kv_ms, ended.kv_saved_ms = "", 0, None, None
    if kv is None or kv.plan is None or choice is None or not kv.tokens:
        return
    ended.kv_origin, ended.kv_bytes, ended.kv_ms = kv.plan.origin.value, kv.byte_count, kv.took_s * 1000
    if finished.first_token_at_s and finished.request.stream:
        computed_s = choice.forecast.ttft_s + kv.plan.saved_s
        ended.kv_saved_ms = (computed_s - (finished.first_token_at_s - finished.started_at_s)) * 1000


def _note_times(ended: EndedRequest, finished: Finished) -> None:
    """How long it took; absent times did not happen."""
    started_at_s, first_token_at_s, itl_s = finished.started_at_s, finished.first_token_at_s, finished.itl_s
    queued_s = finished.hold.queued_s
    ended.ttft_ms = (first_token_at_s - started_at_s) * 1000 if first_token_at_s and ended.stream else None
    ended.itl_ms = itl_s * 1000 if itl_s is not None else None
    ended.total_ms = (finished.ended_at_s - started_at_s) * 1000
    ended.queue_ms = queued_s * 1000 if queued_s else None
    ended.overhead_ms = _overhead_s(finished) * 1000
    ended.connect_ms = _connect_s(finished) * 1000 if finished.first_byte_at_s and finished.tries else None


def _slo_outcome(finished: Finished, tokens: int) -> str:
    """What the request waited for its turn is part of what its client waited for the first token. Of an answer that
    comes whole nobody sees the first token: it has as long as a stream of its tokens would have had."""
    routing_request, hold = finished.routing_request, finished.hold
    if routing_request.ttft_slo_s == inf and routing_request.itl_slo_s == inf:
        return ""
    if finished.reason:  # what the caller did wrong, or may not, says nothing of the fleet
        return BROKEN if is_fault(finished.status, finished.reason) else ""
    if not finished.first_token_at_s:
        return BROKEN
    first_s = finished.first_token_at_s - finished.started_at_s + hold.queued_s
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
