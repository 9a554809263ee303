"""Pure: in a few words, why a replica was chosen, and why another was not."""

from math import inf

from heterodyne.domain.routing_rule import Reason
from heterodyne.routing.forecast import BROKEN, CROWDED, KEPT, LIKELY, slo_outlook
from heterodyne.routing.policies.objective import Objective
from heterodyne.routing.routing_choice import Forecast, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

SAME = 1.005  # times as much is no difference worth words

CHOSEN = {
    Reason.ONLY_REPLICA: "the only replica that may be asked",
    Reason.LEAST_LOADED: "the most room",
    Reason.ONLY_POOL: "the soonest of its pool, and no other pool has the model",
    Reason.FASTEST: "the earliest first token",
    Reason.CHEAPEST: "the cheapest",
    Reason.PREFERRED: "the soonest of the preferred kind",
    Reason.BEST_MIX: "the best mix of what the policy weighs",
    Reason.LEAST_HARM: "the fewest promises at risk, its own and those made to others",
    Reason.SPARE: "the best of those with room beside interactive work, now and soon",
    Reason.HOME: "the conversation is at home there",
    Reason.EXPLORED: "tried to see how its pool is doing, of which nothing was heard for a while",
    Reason.PEER: "by the rule of another system",
}
_AMONG_KEEPERS = (Reason.FASTEST, Reason.CHEAPEST, Reason.BEST_MIX)


def why_chosen(request: RoutingRequest, choice: RoutingChoice, objective: Objective) -> str:
    """Of the one that is asked."""
    said = CHOSEN[choice.reason]
    if choice.reason is Reason.LEAST_LOADED and objective.name != "load":
        return f"{said}: the forecasts of some pool are too far off to go by"
    if choice.reason is Reason.PREFERRED and not _is_preferred(request, choice.forecast, objective):
        return "the soonest, as none of the preferred kind is to be had"
    if request.has_slo and choice.reason in _AMONG_KEEPERS:
        return f"{said} of those that {'probably ' if choice.slo_outlook == LIKELY else ''}keep the promise"
    return said


def why_passed(
    request: RoutingRequest, choice: RoutingChoice, forecast: Forecast, objective: Objective, *, is_later_tier: bool
) -> str:
    """Of one that might have been asked."""
    chosen, kept = choice.forecast, slo_outlook(forecast)
    if choice.reason is Reason.LEAST_HARM and kept > KEPT:
        return (
            f"{_why_not_kept(request, forecast, kept)}; {forecast.risk:.2f} promises at risk against {chosen.risk:.2f}"
        )
    is_compared_by_slo = choice.reason not in (Reason.LEAST_LOADED, Reason.PEER)
    if is_compared_by_slo and kept > KEPT and (kept >= choice.slo_outlook or kept > LIKELY):
        return _why_not_kept(request, forecast, kept)
    if is_later_tier:
        return "comes after replicas of preferred regions and of our own"
    match choice.reason:
        case Reason.HOME:
            return "the conversation is at home elsewhere"
        case Reason.EXPLORED:
            return "a better guess, but of the other pool nothing was heard for a while"
        case Reason.PEER:
            return "by the rule of another system"
        case Reason.CHEAPEST | Reason.SPARE if forecast.usd == inf and chosen.usd < inf:
            return "nobody says what it costs"
        case Reason.CHEAPEST | Reason.SPARE if chosen.usd > 0.0 and forecast.usd > SAME * chosen.usd:
            return f"{forecast.usd / chosen.usd:.2f} times the price"
        case Reason.LEAST_LOADED if f"{forecast.load:.0%}" != f"{chosen.load:.0%}":
            return f"fuller: {forecast.load:.0%} against {chosen.load:.0%}"
        case Reason.PREFERRED if not _is_preferred(request, forecast, objective) and _is_preferred(
            request, chosen, objective
        ):
            return "not of the preferred kind"
        case Reason.BEST_MIX:
            return "weighed worse"
    if forecast.ttft_s > SAME * chosen.ttft_s:
        return f"first token {ms(forecast.ttft_s - chosen.ttft_s)} ms later"
    return "as good; chance, or cached tokens, decided"


def ms(seconds: float) -> str:
    """Milliseconds, as many digits as a prediction is good for."""
    return f"{seconds * 1000:.0f}" if seconds >= 0.1 else f"{seconds * 1000:.3g}"


def _is_preferred(request: RoutingRequest, forecast: Forecast, objective: Objective) -> bool:
    """By the rank of the policy `affinity`, whose second part shows it where the SLO is kept."""
    kept, place, _ = objective.rank(request, forecast)
    return kept == KEPT and place == 0.0


def _why_not_kept(request: RoutingRequest, forecast: Forecast, kept: int) -> str:
    if kept == BROKEN:
        if forecast.ttft_s > request.ttft_slo_s:
            return f"too late: TTFT {ms(forecast.ttft_s)} of {ms(request.ttft_slo_s)} ms"
        if forecast.itl_s > request.itl_slo_s:
            return f"too slow: ITL {ms(forecast.itl_s)} of {ms(request.itl_slo_s)} ms"
        return "too likely to break a promise, its own or one made to others there"
    if kept == CROWDED:
        return f"over capacity: {forecast.load:.0%} of its room"
    return f"keeps the promise, but not surely: {forecast.risk:.0%} at risk"
