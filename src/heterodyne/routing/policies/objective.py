"""What every objective has in common: how it ranks forecasts, and how far off one is that does not keep its SLO."""

from typing import Protocol

from heterodyne.domain.fleet import Replica
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest

RISK_STEPS = 50  # differences below one step are no reason to wait longer or to pay more

Rank = tuple[int, float, float]  # what forecasts are compared by, the smallest first; the SLO outlook leads


class Objective(Protocol):
    """One way to compare forecasts."""

    name: str

    def rank(self, request: RoutingRequest, forecast: Forecast) -> Rank:
        """Its place among the candidates."""
        ...


class Preference(Protocol):
    """What an operator prefers among hardware."""

    def prefers(self, replica: Replica) -> bool:
        """Whether the replica is one of those."""
        ...


def harm(forecast: Forecast) -> int:
    """The risk in steps, where an SLO is not as good as kept."""
    return round(forecast.risk * RISK_STEPS)
