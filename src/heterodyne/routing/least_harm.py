"""Pure: where to put a request when no pool's soonest replica will keep its SLO: where the fewest SLOs are missed.

Spread evenly, requests that come too late make all others a little late. One that is late whatever is done harms none
on a replica that is late already, and the rest of the fleet keeps its SLOs. So others than the soonest of each pool are
looked at too: all of a small fleet, a sample of a large one, which finds nearly as good a place and costs no more.
"""

from collections.abc import Mapping, Sequence

from heterodyne.routing.forecast import forecast_on
from heterodyne.routing.picker import Chance
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest

LOOKED_AT_MAX = 16


def others(
    request: RoutingRequest,
    pools: Sequence[Sequence[ReplicaState]],
    known: Sequence[Forecast],
    cached: Mapping[int, float],
    *,
    now_s: float,
    chance: Chance,
) -> list[Forecast]:
    """Forecasts of replicas that have none yet."""
    done = {forecast.state.place for forecast in known}
    rest = [state for states in pools for state in states if state.place not in done]
    room = LOOKED_AT_MAX - len(known)
    if len(rest) > room:
        # Every so many of them, from a random one on: as good as a sample, and from every pool.
        stride = len(rest) / max(1, room)
        begin = chance() * stride
        rest = [rest[int(begin + stride * number)] for number in range(room)]
    return [forecast_on(state, request, cached.get(state.place, 0.0), now_s) for state in rest]
