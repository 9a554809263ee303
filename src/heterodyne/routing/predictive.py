"""Pure: the replica whose forecast an objective likes best.

Within a pool replicas are equal but for what they hold, so one pass of a few additions finds the best of each; only
those are forecast in full and compared. Where two are as good as each other, whoever was given less by this gateway
goes first, then chance decides: neither is stale, so gateways with one picture do not all run to the same place.
"""

from collections.abc import Mapping, Sequence
from math import inf

from heterodyne.domain.decision import Reason
from heterodyne.routing.ask import Ask
from heterodyne.routing.choice import Choice
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.kv.fetch import fetch_s
from heterodyne.routing.least_harm import others
from heterodyne.routing.picker import Chance
from heterodyne.routing.policies.objective import KEPT, LIKELY, Objective, Rank, promise
from heterodyne.routing.seat import Seat

TIE_STEPS = 0.25  # replicas are as good as each other when less than this part of a step lies between them
UNTIMELY_S = 1e6  # behind every replica whose steps are quick enough
EXPLORED_SHARE = 0.01  # of requests that may go and see how a pool is doing
STALE_S = 5.0  # nothing was seen of a pool for so long

Cached = Mapping[int, float]  # place: tokens of the prompt that it should have in memory
NOTHING_CACHED: Cached = {}


def choose(
    ask: Ask, pools: Sequence[Sequence[Seat]], cached: Cached, objective: Objective, *, now_s: float, chance: Chance
) -> Choice:
    """The best of all pools, none of which is empty."""
    forecasts = []
    is_lost = False
    for seats in pools:
        held_tokens = _held(seats, cached)
        seat = seats[0] if len(seats) == 1 else _soonest(ask, seats, cached, held_tokens, now_s=now_s, chance=chance)
        forecasts.append(seat.forecast(ask, cached.get(seat.place, 0.0) if cached else 0.0, now_s, held_tokens))
        is_lost = is_lost or seat.speed.is_lost
    if is_lost and len(forecasts) > 1:
        # Where predictions are no guide, what can be counted is.
        best = min(forecasts, key=lambda one: (round(one.load, 2), objective.rank(ask, one)))
        return Choice(best, promise(best), Reason.LEAST_LOADED, tuple(forecasts))
    best, rank = _best(ask, forecasts, objective)
    if rank[0] > LIKELY:
        forecasts += others(ask, pools, forecasts, cached, now_s=now_s, chance=chance)
        best, rank = _best(ask, forecasts, objective)
        return Choice(best, rank[0], Reason.LEAST_HARM, tuple(forecasts))
    if len(forecasts) == 1:
        return Choice(best, rank[0], Reason.ONLY_POOL)
    if chance() < EXPLORED_SHARE:
        stale = _stalest(ask, forecasts, objective, now_s)
        if stale is not None and stale is not best:
            return Choice(stale, KEPT, Reason.EXPLORED, tuple(forecasts))
    return Choice(best, rank[0], REASONS[objective.name], tuple(forecasts))


REASONS = {
    "slo": Reason.FASTEST,
    "cost": Reason.CHEAPEST,
    "affinity": Reason.PREFERRED,
    "load": Reason.LEAST_LOADED,
    "mix": Reason.BEST_MIX,
}


def _held(seats: Sequence[Seat], cached: Cached) -> float:
    """What a replica of the pool has of the prompt and could send to the others."""
    if not cached or seats[0].speed.prior.kv_fetch_token_s == inf:
        return 0.0
    return max(cached.get(seat.place, 0.0) * seat.trust for seat in seats)


def _soonest(
    ask: Ask, seats: Sequence[Seat], cached: Cached, held_tokens: float, *, now_s: float, chance: Chance
) -> Seat:
    """Of equal replicas the one with the earliest first token, and quick enough steps where any has them."""
    speed = seats[0].speed
    prior = speed.prior
    steps = speed.steps * (1.5 + ask.prompt_tokens // prior.step_tokens)
    pace = speed.prompts
    batch_slo_s = ask.itl_slo_s - speed.step_s
    token_s, token_squared_s = prior.prompt_token_s, prior.prompt_token_squared_s
    best = second = seats[0]
    best_s = second_s = inf
    begin = int(chance() * len(seats))
    for seat in (*seats[begin:], *seats[:begin]):
        wait_s, batch_s = seat.free_at_s - now_s, seat.batch_s
        if wait_s < seat.least_s:
            wait_s = seat.least_s
        if batch_s:
            wait_s += steps * batch_s
            if batch_s > batch_slo_s:
                wait_s += UNTIMELY_S
        elif not cached and wait_s <= 0.0 and not seat.in_flight:
            return seat  # it has nothing to do: nobody could be sooner
        if cached:
            tokens = cached[seat.place] * seat.trust if seat.place in cached else 0.0
            if held_tokens > tokens:
                link_s = fetch_s(prior, pace, own_tokens=tokens, held_tokens=held_tokens)
                if link_s < inf:
                    tokens, wait_s = held_tokens, wait_s + link_s
            wait_s -= pace * tokens * (token_s + token_squared_s * tokens)
        if wait_s < best_s:
            best, second, second_s, best_s = seat, best, best_s, wait_s
        elif wait_s < second_s:
            second, second_s = seat, wait_s
    if second_s - best_s < TIE_STEPS * speed.step_s:
        more = 0 if cached else second.in_flight - best.in_flight
        if more < 0 or (not more and chance() < 0.5):
            return second
    return best


def _best(ask: Ask, forecasts: Sequence[Forecast], objective: Objective) -> tuple[Forecast, Rank]:
    best, rank = forecasts[0], objective.rank(ask, forecasts[0])
    for forecast in forecasts[1:]:
        other = objective.rank(ask, forecast)
        if other < rank:
            best, rank = forecast, other
    return best, rank


def _stalest(ask: Ask, forecasts: Sequence[Forecast], objective: Objective, now_s: float) -> Forecast | None:
    """A replica of the pool that was not heard of for longest, where it should keep the promise."""
    stale = [
        forecast
        for forecast in forecasts
        if now_s - forecast.seat.speed.heard_at_s > STALE_S and objective.rank(ask, forecast)[0] == KEPT
    ]
    return min(stale, key=lambda forecast: forecast.seat.speed.heard_at_s, default=None)
