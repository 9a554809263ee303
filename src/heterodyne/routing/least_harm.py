"""Pure: where to put a request when no pool's soonest replica keeps the promise: where it breaks the fewest.

Spread evenly, requests that come too late make everybody a little late. One that is late whatever is done harms nobody
on a replica that is late already, and the rest of the fleet keeps its word. So every replica is looked at, not only
the soonest of each pool.
"""

from collections.abc import Mapping, Sequence
from math import inf

from heterodyne.routing.ask import Ask
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.seat import Seat

RISK_EQUAL = 0.02  # promises: less than this is no reason to wait longer


def least_harm(ask: Ask, pools: Sequence[Sequence[Seat]], cached: Mapping[int, float], now_s: float) -> Forecast:
    """The best of these, of which there is at least one."""
    best: Forecast | None = None
    least = inf
    for seats in pools:
        for seat in seats:
            forecast = seat.forecast(ask, cached.get(seat.place, 0.0), now_s)
            if forecast.risk < least - RISK_EQUAL or (
                best is not None and forecast.risk < least + RISK_EQUAL and forecast.ttft_s < best.ttft_s
            ):
                best, least = forecast, forecast.risk
    assert best is not None
    return best
