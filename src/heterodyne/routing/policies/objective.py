"""What every objective has in common: whether a forecast keeps the promise, and how late it is when it does not."""

from typing import Protocol

from heterodyne.domain.fleet import Replica
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.routing_request import RoutingRequest

LOAD_MAX = 0.95  # from this share on a replica is over capacity: one more may cost somebody the promise

RISK_KEPT = 0.15  # promises expected to be broken: below this they are as good as kept
RISK_LIKELY = 0.5
RISK_STEPS = 50  # differences below one step are no reason to wait longer or to pay more

# How well a promise is kept. Lower is better, and whatever an objective prefers comes after it.
KEPT, LIKELY, CROWDED, BROKEN = range(4)

Rank = tuple[int, float, float]  # what forecasts are compared by, the smallest first; how the promise is kept leads


class Objective(Protocol):
    """One way to compare forecasts."""

    name: str

    def rank(self, request: RoutingRequest, forecast: Forecast) -> Rank:
        """Where it stands among the candidates."""
        ...


class Preference(Protocol):
    """What an operator prefers among hardware."""

    def prefers(self, replica: Replica) -> bool:
        """Whether the replica is one of those."""
        ...


def slo_outlook(forecast: Forecast) -> int:
    """Kept with room, probably kept, kept on a replica that is full, or not kept.

    The risk counts the promises made to others too: a request that would make ten late is not well placed in time.
    """
    risk = forecast.risk
    if risk >= RISK_LIKELY:
        return BROKEN
    if forecast.load > LOAD_MAX:
        return CROWDED
    return KEPT if risk < RISK_KEPT else LIKELY


def harm(forecast: Forecast) -> int:
    """The risk in steps, where a promise is not as good as kept."""
    return round(forecast.risk * RISK_STEPS)
