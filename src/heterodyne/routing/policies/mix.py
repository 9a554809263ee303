"""Time, dollars and room weighed against each other among replicas that keep the SLO."""

from math import log

from heterodyne.routing.forecast import KEPT, slo_outlook
from heterodyne.routing.policies.objective import Rank, harm
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest

LEAST = 1e-9


class MixObjective:
    """A weighted product, so that no unit matters: with equal weights, half the time is worth twice the dollars."""

    name = "mix"

    def __init__(self, *, slo: float, cost: float, load: float) -> None:
        self._slo, self._cost, self._load = slo, cost, load

    def rank(self, request: RoutingRequest, forecast: Forecast) -> Rank:
        """By the product of what the named objectives go by, each to the power of its weight."""
        kept = slo_outlook(forecast)
        if kept != KEPT:
            return kept, harm(forecast), forecast.usd
        weighed = (
            self._slo * log(max(forecast.ttft_s, LEAST))
            + self._cost * log(max(forecast.usd, LEAST))
            + self._load * log(max(forecast.load, LEAST))
        )
        return kept, weighed, forecast.ttft_s
