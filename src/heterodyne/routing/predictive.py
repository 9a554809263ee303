"""Pure: the replica whose forecast an objective likes best.

Within a pool replicas are equal but for what they hold, so one pass of a few additions finds the best of each; only
those are forecast in full and compared. Where two are as good as each other, the one that was given less by this
gateway goes first, then chance decides: neither is stale, so gateways with one picture do not all choose the same.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Final

from heterodyne.domain.routing_rule import Reason
from heterodyne.routing.forecast import KEPT, LIKELY, forecast_on, slo_outlook
from heterodyne.routing.kv.fetch import reachable
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

Cached = Mapping[int, float]  # place: tokens of the prompt that it should have in memory
NOTHING_CACHED: Final[Cached] = {}


def choose(
    request: RoutingRequest,
    pools: Sequence[Sequence[ReplicaState]],
    cached: Cached,
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
        state = (
            states[0]
            if len(states) == 1
            else _soonest(request, states, cached, held_tokens, now_s=now_s, chance=chance)
        )
        cached_tokens = cached.get(state.place, 0.0) if cached else 0.0
        forecasts.append(forecast_on(state, request, cached_tokens, now_s, held_tokens))
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


def _held(states: Sequence[ReplicaState], cached: Cached) -> float:
    """What a replica of the pool has of the prompt and could send to the others."""
    if not cached or states[0].speed.prior.kv_fetch_token_s == inf:
        return 0.0
    return max(cached.get(state.place, 0.0) * state.trust for state in states)


def _soonest(
    request: RoutingRequest,
    states: Sequence[ReplicaState],
    cached: Cached,
    held_tokens: float,
    *,
    now_s: float,
    chance: Chance,
) -> ReplicaState:
    """Of equal replicas the one with the earliest first token, and quick enough steps where any has them.

    Only what differs between them is summed: the parts of `forecast_on` that are the same for all cancel out.
    """
    speed = states[0].speed
    prior = speed.prior
    steps = speed.steps * (1.5 + request.prompt_tokens // prior.step_tokens)
    pace = speed.prompts
    batch_slo_s = request.itl_slo_s - speed.step_s
    token_s, token_squared_s = prior.prompt_token_s, prior.prompt_token_squared_s
    best = second = states[0]
    best_s = second_s = inf
    begin = int(chance() * len(states))
    for state in (*states[begin:], *states[:begin]):
        wait_s, batch_s = state.free_at_s - now_s, state.batch_s
        if wait_s < state.least_s:
            wait_s = state.least_s
        if batch_s:
            wait_s += steps * batch_s
            if batch_s > batch_slo_s:
                wait_s += UNTIMELY_S
        elif not cached and wait_s <= 0.0 and not state.in_flight:
            return state  # it has nothing to do: none could be sooner
        if cached:
            tokens = cached[state.place] * state.trust if state.place in cached else 0.0
            if held_tokens > tokens:
                tokens, link_s = reachable(prior, pace, own_tokens=tokens, held_tokens=held_tokens)
                wait_s += link_s
            wait_s -= pace * tokens * (token_s + token_squared_s * tokens)
        if wait_s < best_s:
            best, second, second_s, best_s = state, best, best_s, wait_s
        elif wait_s < second_s:
            second, second_s = state, wait_s
    if second_s - best_s < TIE_STEPS * speed.step_s:
        more = 0 if cached else second.in_flight - best.in_flight
        if more < 0 or (not more and chance() < 0.5):
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
