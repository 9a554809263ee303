"""Pure: where to put a request when no pool's soonest replica will keep the promise: where it breaks the fewest.

Spread evenly, requests that come too late make everybody a little late. One that is late whatever is done harms nobody
on a replica that is late already, and the rest of the fleet keeps its word. So others than the soonest of each pool are
looked at too: all of a small fleet, a sample of a large one, which finds nearly as good a place and costs no more.
"""

from collections.abc import Mapping, Sequence

from heterodyne.routing.ask import Ask
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.picker import Chance
from heterodyne.routing.seat import Seat

LOOKED_AT_MAX = 16


def others(
    ask: Ask,
    pools: Sequence[Sequence[Seat]],
    known: Sequence[Forecast],
    cached: Mapping[int, float],
    *,
    now_s: float,
    chance: Chance,
) -> list[Forecast]:
    """Forecasts of replicas that have none yet."""
    done = {forecast.seat.place for forecast in known}
    rest = [seat for seats in pools for seat in seats if seat.place not in done]
    room = LOOKED_AT_MAX - len(known)
    if len(rest) > room:
        # Every so many of them, from a random one on: as good as a sample, and from every pool.
        stride = len(rest) / max(1, room)
        begin = chance() * stride
        rest = [rest[int(begin + stride * number)] for number in range(room)]
    return [seat.forecast(ask, cached.get(seat.place, 0.0), now_s) for seat in rest]
