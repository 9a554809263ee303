"""The cheapest replica that keeps the SLO; when none does, the one that misses by least."""

from heterodyne.routing.forecast import KEPT, slo_outlook
from heterodyne.routing.policies.objective import Rank, harm
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest


class CostObjective:
    """What a request is thought to cost does not fall with load, so that a crowd attracts no more."""

    name = "cost"

    def rank(self, request: RoutingRequest, forecast: Forecast) -> Rank:
        """By dollars, then by time; a replica without a price comes last."""
        kept = slo_outlook(forecast)
        if kept == KEPT:
            return kept, forecast.usd, forecast.ttft_s
        return kept, harm(forecast), forecast.usd
