"""Pure: where to put a request when no pool's soonest replica will keep its SLO: where the fewest SLOs are missed.

Spread evenly, requests that come too late make all others a little late. One that is late whatever is done harms none
on a replica that is late already, and the rest of the fleet keeps its SLOs. So others than the soonest of each pool are
looked at too: all of a small fleet, a sample of a large one, which finds nearly as good a place and costs no more.
"""

from typing import Final

from heterodyne.routing.forecast import forecast_on
from heterodyne.routing.kv.prefix_matches import PrefixMatches
from heterodyne.routing.picker import Chance
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest

LOOKED_AT_MAX: Final = 16


def others(
    request: RoutingRequest,
    pools: list[list[ReplicaState]],
    known: list[Forecast],
    cached: PrefixMatches,
    *,
    now_s: float,
    chance: Chance,
) -> list[Forecast]:
    """Forecasts of replicas that have none yet; `known` is one of each pool, in their order."""
    rest, room = -len(known), LOOKED_AT_MAX - len(known)
    for states in pools:
        rest += len(states)
    begin, stride = 0.0, 1.0
    if rest > room:
        # Every so many of them, from a random one on: as good as a sample, and from every pool.
        stride = rest / (room if room > 1 else 1)
        begin = chance() * stride
        rest = room if room > 0 else 0
    forecasts: list[Forecast] = []
    looked, passed = 0, 0  # how many of the rest were looked at, and how many lie in the pools before
    for number in range(len(pools)):
        if looked == rest:
            break
        states, done = pools[number], _position(pools[number], known[number].state)
        while looked < rest:
            position = int(begin + stride * looked) - passed
            if position >= len(states) - 1:
                break
            state = states[position if position < done else position + 1]
            forecasts.append(forecast_on(state, request, cached.tokens(state.place), now_s))
            looked += 1
        passed += len(states) - 1
    return forecasts


def _position(states: list[ReplicaState], wanted: ReplicaState) -> int:
    for position in range(len(states)):
        if states[position] is wanted:
            return position
    raise AssertionError("a forecast of a replica that is not in its pool")
