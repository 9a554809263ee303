"""Preferred hardware while it keeps the SLO, then any other that does."""

from heterodyne.routing.forecast import KEPT, slo_outlook
from heterodyne.routing.policies.objective import Preference, Rank, harm
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest


class AffinityObjective:
    """Hard requirements are no preference: they decide which replicas are candidates at all."""

    name = "affinity"

    def __init__(self, preference: Preference) -> None:
        self._preference = preference

    def rank(self, request: RoutingRequest, forecast: Forecast) -> Rank:
        """Those it prefers first, each by time."""
        kept = slo_outlook(forecast)
        if kept == KEPT:
            return kept, 0.0 if self._preference.prefers(forecast.state.replica) else 1.0, forecast.ttft_s
        return kept, harm(forecast), forecast.usd
