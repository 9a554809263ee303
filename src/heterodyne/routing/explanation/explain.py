"""Pure: a choice and the forecasts around it become an explanation."""

from collections.abc import Mapping, Sequence
from math import ceil, inf

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.explanation.explanation import (
    Candidate,
    CandidateVerdict,
    ExplainedRequest,
    Explanation,
    PredictedRange,
    SloOutlook,
)
from heterodyne.routing.explanation.kv_origins import how_brought, origins_in_words, possible_origins
from heterodyne.routing.explanation.why import ms, why_chosen, why_passed
from heterodyne.routing.forecast import BROKEN, slo_outlook
from heterodyne.routing.policies.objective import Objective
from heterodyne.routing.routing_choice import Forecast, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

SLO_OUTLOOKS = tuple(SloOutlook)  # in the order of `policies.objective`

Exclusions = Mapping[ReplicaId, str]
Tiers = Mapping[ReplicaId, int]


def explain(
    request: RoutingRequest,
    forecasts: Sequence[Forecast],
    choice: RoutingChoice | None,
    objective: Objective,
    *,
    policy: str,
    backup: ReplicaId | None = None,
    exclusions: Exclusions | None = None,
    tiers: Tiers | None = None,
    refusal: str = "",
    notes: tuple[str, ...] = (),
) -> Explanation:
    """No choice: no replica may be asked, another system's rule decides, or, by `refusal`, none is good enough."""
    exclusions, tiers = exclusions or {}, tiers or {}
    chosen = None if choice is None else choice.forecast.state

    def place(forecast: Forecast) -> tuple[bool, bool, int, tuple[int, float, float]]:
        id = forecast.state.replica.id
        return forecast.state is not chosen, id in exclusions, tiers.get(id, 0), objective.rank(request, forecast)

    ordered = sorted(forecasts, key=place)
    open_to_it = [one for one in ordered if one.state.replica.id not in exclusions]
    candidates = []
    for forecast in ordered:
        id = forecast.state.replica.id
        if choice is not None and forecast.state is chosen:
            verdict, reason = CandidateVerdict.CHOSEN, why_chosen(request, choice, objective)
        elif id in exclusions:
            verdict, reason = CandidateVerdict.EXCLUDED, exclusions[id]
        elif choice is None:
            verdict = CandidateVerdict.PASSED
            reason = "no room for such work" if refusal else f"placed by the rule of {policy}, whatever the forecast"
        else:
            verdict = CandidateVerdict.BACKUP if id == backup else CandidateVerdict.PASSED
            is_later = tiers.get(id, 0) > tiers.get(choice.target.id, 0)
            reason = why_passed(request, choice, forecast, objective, is_later_tier=is_later)
        candidates.append(_candidate(request, forecast, verdict, reason))
    return Explanation(
        asked=_explained_request(request, policy),
        candidates=tuple(candidates),
        reason=None if choice is None else choice.reason,
        conclusion=refusal or _conclusion(request, choice, open_to_it, objective, policy=policy, backup=backup),
        notes=notes,
        origins=() if choice is None else possible_origins(choice),
    )


def _explained_request(request: RoutingRequest, policy: str) -> ExplainedRequest:
    return ExplainedRequest(
        model=request.model,
        policy=policy,
        urgency=request.urgency,
        prompt_tokens=request.prompt_tokens,
        output_tokens=request.output_tokens,
        slo_ttft_ms=_ms_or_none(request.ttft_slo_s),
        slo_itl_ms=_ms_or_none(request.itl_slo_s),
    )


def _candidate(request: RoutingRequest, forecast: Forecast, verdict: CandidateVerdict, reason: str) -> Candidate:
    replica = forecast.state.replica
    usd = forecast.usd if forecast.usd < inf else None
    return Candidate(
        replica=replica.id,
        pool=replica.pool,
        hardware=replica.hardware,
        tp=replica.tp,
        region=replica.region,
        ttft=_span(forecast.ttft_s, forecast.ttft_low_s, forecast.ttft_high_s),
        itl=_span(forecast.itl_s, forecast.itl_low_s, forecast.itl_high_s),
        wait_ms=forecast.wait_s * 1000,
        load=forecast.load,
        cached_tokens=round(forecast.cached_tokens),
        usd=usd,
        usd_per_million_tokens=None if usd is None else usd / (request.prompt_tokens + request.output_tokens) * 1e6,
        risk=forecast.risk,
        promise=SLO_OUTLOOKS[slo_outlook(forecast)] if request.has_slo else None,
        verdict=verdict,
        reason=reason,
    )


def _span(middle_s: float, low_s: float, high_s: float) -> PredictedRange:
    return PredictedRange(ms=middle_s * 1000, low_ms=low_s * 1000, high_ms=high_s * 1000)


def _ms_or_none(limit_s: float) -> float | None:
    return limit_s * 1000 if limit_s < inf else None


def _conclusion(
    request: RoutingRequest,
    choice: RoutingChoice | None,
    open_to_it: Sequence[Forecast],
    objective: Objective,
    *,
    policy: str,
    backup: ReplicaId | None,
) -> str:
    if not open_to_it:
        return f"No replica of {request.model} may be asked now."
    if choice is None:
        return f"{policy} places requests by its own rule; forecasts play no part in it."
    after = f" {backup} would be asked if it failed." if backup is not None else ""
    brought = "" if choice.kv_plan is None else f" ({how_brought(choice.kv_plan)})"
    said = f"{choice.target.id}: {why_chosen(request, choice, objective)}{brought}.{after}"
    if origins := origins_in_words(possible_origins(choice)):
        said = f"{said} {origins}"
    return f"{_best_possible(request, open_to_it)} {said}" if request.has_slo and choice.slo_outlook == BROKEN else said


def _best_possible(request: RoutingRequest, forecasts: Sequence[Forecast]) -> str:
    """Which SLO would hold instead, where no replica keeps this one."""
    missed = []
    soonest = min(forecasts, key=lambda one: one.ttft_high_s)
    if soonest.ttft_high_s > request.ttft_slo_s:
        missed.append(_missed("TTFT", request.ttft_slo_s, soonest, soonest.ttft_s, soonest.ttft_high_s))
    quickest = min(forecasts, key=lambda one: one.itl_high_s)
    if quickest.itl_high_s > request.itl_slo_s:
        missed.append(_missed("ITL", request.itl_slo_s, quickest, quickest.itl_s, quickest.itl_high_s))
    if missed:
        return f"No replica keeps the promise. {' '.join(missed)}"
    return (
        "No replica keeps the promise: each part of it is within reach, but not on one replica, or not without "
        "making others there late."
    )


def _missed(name: str, limit_s: float, best: Forecast, middle_s: float, high_s: float) -> str:
    return (
        f"{name} {limit_s * 1000:g} ms: the best is {best.state.replica.id} with {ms(middle_s)} ms, and a "
        f"promise of {ceil(high_s * 1000)} ms would hold 19 times out of 20."
    )
