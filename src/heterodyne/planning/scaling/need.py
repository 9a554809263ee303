"""How much has to be carried by the time that a replica asked for now is ready, and what that is made of."""

from msgspec import Struct

from heterodyne.planning.scaling.action import ScalingReason
from heterodyne.planning.scaling.demand import RecentDemand, demand_of
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.state import ScalingState

RELIEF_S = 150.0  # in which what waits is to be worked off, or in a cold start
USUAL_WAITING = 0.05  # of what is in flight: so many wait on an ordinary day
FLOOR_MIN = 3.0 / 600.0  # usual requests a second that are worth a replica


class Need(Struct, frozen=True, kw_only=True):
    """Usual requests a second."""

    requests_per_s: float
    reason: ScalingReason  # the greatest part of it
    demand: RecentDemand
    ahead: float  # when the next replica is ready
    backlog: float
    floor: float


def need_of(state: ScalingState, seen: Observation, *, lead_s: float) -> Need:
    """`lead_s`: from asking for a replica to its first request."""
    demand = demand_of(state.samples)
    ahead = demand.ahead(lead_s)
    waiting = max(0.0, seen.waiting - USUAL_WAITING * seen.in_flight)
    backlog = waiting / max(RELIEF_S, lead_s)
    floor = state.floor.between(seen.at_s, seen.at_s + lead_s)
    if floor < FLOOR_MIN or (not state.floor.knows_when and not demand.now):
        floor = 0.0  # a level that is gone wakes nobody
    carried = ahead + backlog
    reason = ScalingReason.DEMAND
    if floor > carried:
        reason = ScalingReason.FORECAST
    elif backlog > max(demand.now, ahead - demand.now):
        reason = ScalingReason.BACKLOG
    elif demand.slope > 0 and ahead > 1.05 * demand.mean:
        reason = ScalingReason.TREND
    return Need(
        requests_per_s=max(carried, floor), reason=reason, demand=demand, ahead=ahead, backlog=backlog, floor=floor
    )
