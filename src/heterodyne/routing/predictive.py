"""Pure: the replica whose forecast an objective likes best.

Within a pool replicas are equal but for what they hold, so one pass of a few additions finds the best of each; only
those are forecast in full and compared. Where two are as good as each other, the one that was given less by this
gateway goes first, then chance decides: neither is stale, so gateways with one picture do not all choose the same.
"""

from collections.abc import Sequence
from math import inf
from typing import Final

from heterodyne.domain.routing_rule import Reason
from heterodyne.routing.forecast import KEPT, LIKELY, forecast_on, slo_outlook
from heterodyne.routing.kv.fetch import reachable
from heterodyne.routing.kv.prefix_matches import PrefixMatches
from heterodyne.routing.least_harm import others
from heterodyne.routing.picker import Chance
from heterodyne.routing.policies.objective import Objective, Rank
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

TIE_STEPS: Final = 0.25  # replicas are as good as each other when less than this part of a step lies between them
UNTIMELY_S: Final = 1e6  # behind every replica whose steps are quick enough
EXPLORED_SHARE: Final = 0.01  # of requests that may go and see how a pool is doing
STALE_S: Final = 5.0  # nothing was seen of a pool for so long

Pool = list[ReplicaState]  # equal but for what they hold


def choose(
    request: RoutingRequest,
    pools: list[Pool],
    cached: PrefixMatches,
    objective: Objective,
    *,
    now_s: float,
    chance: Chance,
) -> RoutingChoice:
    """The best of all pools, none of which is empty."""
    forecasts = []
    is_lost, is_one = False, len(pools) == 1
    for states in pools:
        held_tokens = _held(states, cached)
        state = soonest(request, states, cached, now_s=now_s, chance=chance, held_tokens=held_tokens)
        forecasts.append(forecast_on(state, request, cached.tokens(state.place), now_s, held_tokens))
        is_lost = is_lost or (not is_one and state.speed.is_lost)
    if is_lost:
        # Where predictions are no guide, what can be counted is.
        best = min(forecasts, key=lambda one: (round(one.load, 2), objective.rank(request, one)))
        return RoutingChoice(best, slo_outlook(best), Reason.LEAST_LOADED, tuple(forecasts))
    best, rank = best_of(request, forecasts, objective)
    if rank[0] > LIKELY:
        forecasts += others(request, pools, forecasts, cached, now_s=now_s, chance=chance)
        best, rank = best_of(request, forecasts, objective)
        return RoutingChoice(best, rank[0], Reason.LEAST_HARM, tuple(forecasts))
    if is_one:
        return RoutingChoice(best, rank[0], Reason.ONLY_POOL)
    if chance() < EXPLORED_SHARE:
        stale = _stalest(request, forecasts, objective, now_s)
        if stale is not None and stale is not best:
            return RoutingChoice(stale, KEPT, Reason.EXPLORED, tuple(forecasts))
    return RoutingChoice(best, rank[0], REASONS[objective.name], tuple(forecasts))


REASONS: Final = {
    "slo": Reason.FASTEST,
    "cost": Reason.CHEAPEST,
    "affinity": Reason.PREFERRED,
    "load": Reason.LEAST_LOADED,
    "mix": Reason.BEST_MIX,
}


def best_of(request: RoutingRequest, forecasts: Sequence[Forecast], objective: Objective) -> tuple[Forecast, Rank]:
    """The forecast that comes first, and its rank."""
    best, rank = forecasts[0], objective.rank(request, forecasts[0])
    for forecast in forecasts[1:]:
        other = objective.rank(request, forecast)
        if other < rank:
            best, rank = forecast, other
    return best, rank


def soonest(
    request: RoutingRequest,
    states: Pool,
    cached: PrefixMatches,
    *,
    now_s: float,
    chance: Chance,
    held_tokens: float = 0.0,
) -> ReplicaState:
    """Of equal replicas, the one where the request's first token is earliest."""
    if len(states) == 1:
        return states[0]
    if cached.is_empty:
        return _soonest(request, states, now_s=now_s, chance=chance)
    return _soonest_with_prefix(request, states, cached, held_tokens, now_s=now_s, chance=chance)


def _held(states: Pool, cached: PrefixMatches) -> float:
    """What a replica of the pool has of the prompt and could send to the others."""
    if cached.is_empty or states[0].speed.prior.kv_fetch_token_s == inf:
        return 0.0
    return max(cached.tokens(state.place) * state.trust for state in states)


def _soonest(request: RoutingRequest, states: Pool, *, now_s: float, chance: Chance) -> ReplicaState:
    """Of equal replicas the one with the earliest first token, and quick enough steps where any has them.

    Only what differs between them is summed: the parts of `forecast_on` that are the same for all cancel out.
    """
    begin = int(chance() * len(states))
    best = second = states[begin]
    is_idle = not best.in_flight and best.batch_s == 0.0 and best.least_s <= 0.0 and best.free_at_s <= now_s
    if is_idle and best.claimed_s == 0.0:
        return best  # it has nothing to do: none could be sooner
    speed = best.speed
    steps = speed.steps * (1.5 + request.prompt_tokens // speed.step_tokens)
    batch_slo_s = request.itl_slo_s - speed.step_s
    best_s = second_s = inf
    for part in (states[begin:], states[:begin]):
        for state in part:
            wait_s, batch_s = state.free_at_s - now_s, state.batch_s
            if wait_s < state.least_s:
                wait_s = state.least_s
            wait_s += state.claimed_s
            if batch_s != 0.0:
                wait_s += steps * batch_s
                if batch_s > batch_slo_s:
                    wait_s += UNTIMELY_S
            elif wait_s <= 0.0 and not state.in_flight:
                return state
            if wait_s < best_s:
                best, second, second_s, best_s = state, best, best_s, wait_s
            elif wait_s < second_s:
                second, second_s = state, wait_s
    if second_s - best_s < TIE_STEPS * speed.step_s:
        more = second.in_flight - best.in_flight
        if more < 0 or (not more and chance() < 0.5):
            return second
    return best


def _soonest_with_prefix(
    request: RoutingRequest, states: Pool, cached: PrefixMatches, held_tokens: float, *, now_s: float, chance: Chance
) -> ReplicaState:
    """The same where some of them have a part of the prompt.

    How much a replica has is looked up only where it would be among the first two if it had the most that any has.
    """
    begin = int(chance() * len(states))
    best = second = states[begin]
    speed = best.speed
    pace, token_s, token_squared_s = speed.prompts, speed.prompt_token_s, speed.prompt_token_squared_s
    steps = speed.steps * (1.5 + request.prompt_tokens // speed.step_tokens)
    batch_slo_s = request.itl_slo_s - speed.step_s
    lone_place, lone_tokens, most_tokens = cached.lone_place, cached.lone_tokens, cached.most_tokens
    best_s = second_s = inf
    for part in (states[begin:], states[:begin]):
        for state in part:
            wait_s, batch_s = state.free_at_s - now_s, state.batch_s
            if wait_s < state.least_s:
                wait_s = state.least_s
            wait_s += state.claimed_s
            if batch_s != 0.0:
                wait_s += steps * batch_s
                if batch_s > batch_slo_s:
                    wait_s += UNTIMELY_S
            if held_tokens > 0.0:
                tokens, link_s = cached.tokens(state.place) * state.trust, 0.0
                if held_tokens > tokens:
                    tokens, link_s = reachable(speed.prior, pace, own_tokens=tokens, held_tokens=held_tokens)
                wait_s = wait_s + link_s - pace * tokens * (token_s + token_squared_s * tokens)
            else:
                tokens = (lone_tokens if state.place == lone_place else most_tokens) * state.trust
                if wait_s - pace * tokens * (token_s + token_squared_s * tokens) >= second_s:
                    continue
                tokens = cached.tokens(state.place) * state.trust
                wait_s -= pace * tokens * (token_s + token_squared_s * tokens)
            if wait_s < best_s:
                best, second, second_s, best_s = state, best, best_s, wait_s
            elif wait_s < second_s:
                second, second_s = state, wait_s
    if second_s - best_s < TIE_STEPS * speed.step_s and chance() < 0.5:
        return second
    return best


def _stalest(
    request: RoutingRequest, forecasts: Sequence[Forecast], objective: Objective, now_s: float
) -> Forecast | None:
    """A replica of the pool that was not heard of for longest, where it should keep the SLO."""
    stale = [
        forecast
        for forecast in forecasts
        if now_s - forecast.state.speed.heard_at_s > STALE_S and objective.rank(request, forecast)[0] == KEPT
    ]
    return min(stale, key=lambda forecast: forecast.state.speed.heard_at_s, default=None)
