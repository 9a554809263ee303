"""Pure: where batch and background work goes: into what interactive work leaves, and will not need soon.

What it will need is the most it had at once lately; that much is taken for occupied, spread over the replicas, before
anything else is placed beside it.
"""

from collections.abc import Sequence

from heterodyne.domain.errors import NoSpareCapacity
from heterodyne.domain.routing_rule import Reason
from heterodyne.routing.forecast import KEPT, forecast_beside, slo_outlook
from heterodyne.routing.kv.prefix_matches import PrefixMatches
from heterodyne.routing.policies.objective import Objective
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

RETRY_AFTER_S = 5
RISK_MAX = 0.08  # promises that a request of it may be expected to break: what comes next needs room, too
LIKELY_MIN = 0.5  # of a request: less is not expected at all


def choose_spare(
    request: RoutingRequest,
    states: Sequence[ReplicaState],
    cached: PrefixMatches,
    objective: Objective,
    *,
    to_come: float,
    now_s: float,
) -> RoutingChoice:
    """The best of the replicas that have room beside what is to come; raises where none has."""
    each = to_come / len(states)
    forecasts = [forecast_beside(state, each, request, cached.tokens(state.place), now_s) for state in states]
    spare = [
        one
        for one in forecasts
        if (one.risk < RISK_MAX and slo_outlook(one) == KEPT) or (each < LIKELY_MIN and _is_idle(one))
    ]
    if not spare:
        raise NoSpareCapacity(
            f"There is no spare capacity for {request.urgency.value} work of {request.model!r} now.",
            retry_after_s=RETRY_AFTER_S,
        )
    best = min(spare, key=lambda forecast: objective.rank(request, forecast))
    return RoutingChoice(best, KEPT, Reason.SPARE, tuple(forecasts))


def _is_idle(forecast: Forecast) -> bool:
    """The replica has no request, so it is spare, though it may hold a single one and so be full with it, and though
    the request asks for a pace that nobody could keep."""
    state = forecast.state
    return not state.in_flight and not state.others
