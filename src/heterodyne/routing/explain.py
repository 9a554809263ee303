"""Pure: a choice and the forecasts around it become an explanation."""

from collections.abc import Mapping, Sequence
from math import ceil, inf

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.ask import Ask
from heterodyne.routing.choice import Choice
from heterodyne.routing.explanation import Asked, Candidate, Explanation, PromiseKept, Span, Verdict
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.policies.objective import BROKEN, Objective, promise
from heterodyne.routing.why import ms, why_chosen, why_passed

PROMISES = tuple(PromiseKept)  # in the order of `policies.objective`

Exclusions = Mapping[ReplicaId, str]
Tiers = Mapping[ReplicaId, int]


def explain(
    ask: Ask,
    forecasts: Sequence[Forecast],
    choice: Choice | None,
    objective: Objective,
    *,
    policy: str,
    backup: ReplicaId | None = None,
    exclusions: Exclusions | None = None,
    tiers: Tiers | None = None,
    refusal: str = "",
    notes: tuple[str, ...] = (),
) -> Explanation:
    """No choice: nobody may be asked, another system's rule decides, or, as `refusal` says, nobody is good enough."""
    exclusions, tiers = exclusions or {}, tiers or {}
    chosen = None if choice is None else choice.forecast.seat

    def place(forecast: Forecast) -> tuple[bool, bool, int, tuple[int, float, float]]:
        id = forecast.seat.replica.id
        return forecast.seat is not chosen, id in exclusions, tiers.get(id, 0), objective.rank(ask, forecast)

    ordered = sorted(forecasts, key=place)
    open_to_it = [one for one in ordered if one.seat.replica.id not in exclusions]
    candidates = []
    for forecast in ordered:
        id = forecast.seat.replica.id
        if choice is not None and forecast.seat is chosen:
            verdict, reason = Verdict.CHOSEN, why_chosen(ask, choice, objective)
        elif id in exclusions:
            verdict, reason = Verdict.EXCLUDED, exclusions[id]
        elif choice is None:
            verdict = Verdict.PASSED
            reason = "no room for such work" if refusal else f"placed by the rule of {policy}, whatever the forecast"
        else:
            verdict = Verdict.BACKUP if id == backup else Verdict.PASSED
            is_later = tiers.get(id, 0) > tiers.get(choice.target.id, 0)
            reason = why_passed(ask, choice, forecast, objective, is_later_tier=is_later)
        candidates.append(_candidate(ask, forecast, verdict, reason))
    return Explanation(
        asked=_asked(ask, policy),
        candidates=tuple(candidates),
        reason=None if choice is None else choice.reason,
        conclusion=refusal or _conclusion(ask, choice, open_to_it, objective, policy=policy, backup=backup),
        notes=notes,
    )


def _asked(ask: Ask, policy: str) -> Asked:
    return Asked(
        model=ask.model,
        policy=policy,
        urgency=ask.urgency,
        prompt_tokens=ask.prompt_tokens,
        output_tokens=ask.output_tokens,
        slo_ttft_ms=_ms_or_none(ask.ttft_slo_s),
        slo_itl_ms=_ms_or_none(ask.itl_slo_s),
    )


def _candidate(ask: Ask, forecast: Forecast, verdict: Verdict, reason: str) -> Candidate:
    replica = forecast.seat.replica
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
        usd_per_million_tokens=None if usd is None else usd / (ask.prompt_tokens + ask.output_tokens) * 1e6,
        risk=forecast.risk,
        promise=PROMISES[promise(forecast)] if ask.has_slo else None,
        verdict=verdict,
        reason=reason,
    )


def _span(middle_s: float, low_s: float, high_s: float) -> Span:
    return Span(ms=middle_s * 1000, low_ms=low_s * 1000, high_ms=high_s * 1000)


def _ms_or_none(limit_s: float) -> float | None:
    return limit_s * 1000 if limit_s < inf else None


def _conclusion(
    ask: Ask,
    choice: Choice | None,
    open_to_it: Sequence[Forecast],
    objective: Objective,
    *,
    policy: str,
    backup: ReplicaId | None,
) -> str:
    if not open_to_it:
        return f"No replica of {ask.model} may be asked now."
    if choice is None:
        return f"{policy} places requests by its own rule; forecasts play no part in it."
    after = f" {backup} would be asked if it failed." if backup is not None else ""
    said = f"{choice.target.id}: {why_chosen(ask, choice, objective)}.{after}"
    return f"{_best_possible(ask, open_to_it)} {said}" if ask.has_slo and choice.promise == BROKEN else said


def _best_possible(ask: Ask, forecasts: Sequence[Forecast]) -> str:
    """What could be promised instead, where nobody keeps what is."""
    missed = []
    soonest = min(forecasts, key=lambda one: one.ttft_high_s)
    if soonest.ttft_high_s > ask.ttft_slo_s:
        missed.append(_missed("TTFT", ask.ttft_slo_s, soonest, soonest.ttft_s, soonest.ttft_high_s))
    quickest = min(forecasts, key=lambda one: one.itl_high_s)
    if quickest.itl_high_s > ask.itl_slo_s:
        missed.append(_missed("ITL", ask.itl_slo_s, quickest, quickest.itl_s, quickest.itl_high_s))
    if missed:
        return f"No replica keeps the promise. {' '.join(missed)}"
    return (
        "No replica keeps the promise: each part of it is within reach, but not on one replica, or not without "
        "making others there late."
    )


def _missed(name: str, limit_s: float, best: Forecast, middle_s: float, high_s: float) -> str:
    return (
        f"{name} {limit_s * 1000:g} ms: the best is {best.seat.replica.id} with {ms(middle_s)} ms, and a "
        f"promise of {ceil(high_s * 1000)} ms would hold 19 times out of 20."
    )
