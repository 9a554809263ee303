"""The fastest replica that keeps the SLO with room; when none does, the one that misses by least."""

from heterodyne.routing.forecast import KEPT, slo_outlook
from heterodyne.routing.policies.objective import Rank, harm
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest


class SloObjective:
    """The default."""

    name = "slo"

    def rank(self, request: RoutingRequest, forecast: Forecast) -> Rank:
        """By the time to the first token."""
        kept = slo_outlook(forecast)
        if kept == KEPT:
            return kept, forecast.ttft_s, forecast.usd
        return kept, harm(forecast), forecast.ttft_s
