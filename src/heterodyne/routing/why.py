"""Pure: in a few words, why a replica was chosen, and why another was not."""

from math import inf

from heterodyne.domain.decision import Reason
from heterodyne.routing.ask import Ask
from heterodyne.routing.choice import Choice
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.policies.objective import BROKEN, CROWDED, KEPT, LIKELY, promise

SAME = 1.005  # times as much is no difference worth words

_CHOSEN = {
    Reason.ONLY_REPLICA: "the only replica that may be asked",
    Reason.LEAST_LOADED: "the most room",
    Reason.ONLY_POOL: "the soonest of its pool, and no other pool has the model",
    Reason.FASTEST: "the earliest first token",
    Reason.CHEAPEST: "the cheapest",
    Reason.PREFERRED: "of the preferred kind, or the soonest where none of that kind keeps the promise",
    Reason.BEST_MIX: "the best mix of what the policy weighs",
    Reason.LEAST_HARM: "the fewest promises broken, its own and those made to others",
    Reason.HOME: "the conversation is at home there",
    Reason.EXPLORED: "tried to see how its pool is doing, of which nothing was heard for a while",
    Reason.PEER: "by the rule of another system",
}
_AMONG_KEEPERS = (Reason.FASTEST, Reason.CHEAPEST, Reason.BEST_MIX)


def why_chosen(ask: Ask, choice: Choice) -> str:
    """Of the one that is asked."""
    said = _CHOSEN[choice.reason]
    return f"{said} of those that keep the promise" if ask.has_slo and choice.reason in _AMONG_KEEPERS else said


def why_passed(ask: Ask, choice: Choice, forecast: Forecast, objective: str, *, is_later_tier: bool) -> str:
    """Of one that might have been asked."""
    chosen, kept = choice.forecast, promise(forecast)
    if objective != "load" and kept > KEPT and (kept >= choice.promise or kept > LIKELY):
        return _why_not_kept(ask, forecast, kept)
    if is_later_tier:
        return "comes after replicas of preferred regions and of our own"
    match choice.reason:
        case Reason.HOME:
            return "the conversation is at home elsewhere"
        case Reason.EXPLORED:
            return "a better guess, but of the other pool nothing was heard for a while"
        case Reason.PEER:
            return "by the rule of another system"
        case Reason.LEAST_HARM:
            return f"more promises broken: {forecast.risk:.2f} against {chosen.risk:.2f}"
        case Reason.CHEAPEST if forecast.usd == inf:
            return "nobody says what it costs"
        case Reason.CHEAPEST if chosen.usd > 0.0 and forecast.usd > SAME * chosen.usd:
            return f"{forecast.usd / chosen.usd:.2f} times the price"
        case Reason.LEAST_LOADED:
            return f"fuller: {forecast.load:.0%} against {chosen.load:.0%}"
        case Reason.PREFERRED:
            return "not of the preferred kind, or later than one that is"
        case Reason.BEST_MIX:
            return "weighed worse"
    if forecast.ttft_s > SAME * chosen.ttft_s:
        return f"first token {(forecast.ttft_s - chosen.ttft_s) * 1000:.3g} ms later"
    return "as good; chance, or cached tokens, decided"


def _why_not_kept(ask: Ask, forecast: Forecast, kept: int) -> str:
    if kept == BROKEN:
        if forecast.ttft_s > ask.ttft_slo_s:
            return f"too late: TTFT {_ms(forecast.ttft_s)} of {_ms(ask.ttft_slo_s)} ms"
        if forecast.itl_s > ask.itl_slo_s:
            return f"too slow: ITL {_ms(forecast.itl_s)} of {_ms(ask.itl_slo_s)} ms"
        return f"{forecast.risk:.2f} promises at risk, those made to others there included"
    if kept == CROWDED:
        return f"over capacity: {forecast.load:.0%} of its room"
    return f"keeps the promise, but not surely: {forecast.risk:.0%} at risk"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.4g}"
