"""Pure: where the KV of a prompt might have come from, each with what it would have taken, in numbers and words."""

from math import inf

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.routing.explanation.explanation import PossibleOrigin
from heterodyne.routing.explanation.why import ms
from heterodyne.routing.routing_choice import Forecast, KvPlan, RoutingChoice


def possible_origins(choice: RoutingChoice) -> tuple[PossibleOrigin, ...]:
    """Computing it first, then what was compared with that, the soonest first; empty where nothing was."""
    if not choice.kv_options and not choice.alone and choice.plain is choice.forecast:
        return ()
    plans = sorted(choice.kv_options, key=lambda plan: plan.forecast.ttft_s)
    alone = sorted(choice.alone, key=lambda forecast: forecast.ttft_s)
    computed = [_computed(forecast, choice) for forecast in (choice.plain, *alone)]
    return (*computed, *(_brought(plan, choice) for plan in plans))


def origins_in_words(origins: tuple[PossibleOrigin, ...]) -> str:
    """One sentence; empty where there was nothing to compare."""
    if not origins:
        return ""
    return f"KV: {'; '.join(one.words + (' (taken)' if one.is_taken else '') for one in origins)}."


def how_brought(plan: KvPlan) -> str:
    """What happens to the KV before the replica answers."""
    source = "" if plan.source is None else plan.source.replica.id
    target = plan.forecast.state.replica.id
    match plan.origin:
        case KvOrigin.PEER:
            return f"fetch from {source} to {target}"
        case KvOrigin.STORE:
            return f"read from store {plan.store} on {target}"
        case KvOrigin.HOST:
            return f"bring back from host memory on {target}"
        case KvOrigin.PREFILL:
            return f"compute on {source}, answer on {target}"


def _computed(forecast: Forecast, choice: RoutingChoice) -> PossibleOrigin:
    replica = forecast.state.replica.id
    cached = f" beside {forecast.cached_tokens:.0f} tokens it has" if forecast.cached_tokens >= 1.0 else ""
    return PossibleOrigin(
        origin=None,
        replica=replica,
        tokens=round(forecast.cached_tokens),
        ttft_ms=forecast.ttft_s * 1000,
        usd=_usd(forecast),
        is_taken=choice.kv_plan is None and choice.forecast is forecast,
        words=f"compute on {replica}{cached} {ms(forecast.ttft_s)} ms",
    )


def _brought(plan: KvPlan, choice: RoutingChoice) -> PossibleOrigin:
    forecast = plan.forecast
    return PossibleOrigin(
        origin=plan.origin,
        replica=forecast.state.replica.id,
        source="" if plan.source is None else plan.source.replica.id,
        store=plan.store,
        tokens=round(plan.tokens),
        byte_count=round(plan.byte_count),
        transfer_ms=plan.takes_s * 1000,
        ttft_ms=forecast.ttft_s * 1000,
        usd=_usd(forecast),
        saved_ms=plan.saved_s * 1000,
        saved_usd=plan.saved_usd,
        is_taken=plan is choice.kv_plan,
        words=f"{how_brought(plan)} {ms(forecast.ttft_s)} ms",
    )


def _usd(forecast: Forecast) -> float | None:
    return forecast.usd if forecast.usd < inf else None
