"""The replica with the most room: an even spread over whatever capacity there is."""

from heterodyne.routing.forecast import CROWDED, KEPT, LOAD_MAX
from heterodyne.routing.policies.objective import Rank
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest


class LoadObjective:
    """SLOs play no part, except that a full replica gives way to the next tier."""

    name = "load"

    def rank(self, request: RoutingRequest, forecast: Forecast) -> Rank:
        """By the share of its room that is taken, then by time."""
        return KEPT if forecast.load <= LOAD_MAX else CROWDED, forecast.load, forecast.ttft_s
