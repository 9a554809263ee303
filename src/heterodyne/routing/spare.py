"""Pure: where batch and background work goes: into what interactive work leaves, and will not need soon.

What it will need is the most it had at once lately; that much is taken for occupied, spread over the replicas, before
anything else is placed beside it.
"""

from collections.abc import Mapping, Sequence

from heterodyne.domain.decision import Reason
from heterodyne.domain.errors import NoSpareCapacity
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.policies.objective import KEPT, RISK_KEPT, Objective, slo_outlook
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

HALF_LIFE_S = 60.0  # of the memory of how much there was
RETRY_AFTER_S = 5
LIKELY_MIN = 0.5  # of a request: less is not expected at all


class Reserve:
    """How much interactive work one model has, and had at most."""

    __slots__ = ("_at_s", "_most", "now")

    def __init__(self) -> None:
        self.now = 0  # interactive requests in flight
        self._most = 0.0
        self._at_s = 0.0

    def start(self, now_s: float) -> None:
        """One more."""
        self.now += 1
        if self.now > self._most:
            self._most, self._at_s = float(self.now), now_s

    def end(self) -> None:
        """One fewer."""
        self.now -= 1

    def to_come(self, now_s: float) -> float:
        """Interactive requests that are not here and may be soon."""
        self._most *= 0.5 ** (max(0.0, now_s - self._at_s) / HALF_LIFE_S)
        self._at_s = now_s
        return max(0.0, self._most - self.now)


def choose_spare(
    request: RoutingRequest,
    states: Sequence[ReplicaState],
    cached: Mapping[int, float],
    objective: Objective,
    *,
    to_come: float,
    now_s: float,
) -> RoutingChoice:
    """The best of the replicas that have room beside what is to come; raises where none has."""
    each = to_come / len(states)
    forecasts = [state.forecast_beside(each, request, cached.get(state.place, 0.0), now_s) for state in states]
    spare = [one for one in forecasts if slo_outlook(one) == KEPT or (each < LIKELY_MIN and _is_idle(one))]
    if not spare:
        raise NoSpareCapacity(
            f"There is no spare capacity for {request.urgency.value} work of {request.model!r} now.",
            retry_after_s=RETRY_AFTER_S,
        )
    best = min(spare, key=lambda forecast: objective.rank(request, forecast))
    return RoutingChoice(best, KEPT, Reason.SPARE, tuple(forecasts))


def _is_idle(forecast: Forecast) -> bool:
    """Nobody uses the replica, so it is spare, though it may hold a single request and so be full with it."""
    state = forecast.state
    return not state.in_flight and not state.others and forecast.risk < RISK_KEPT
