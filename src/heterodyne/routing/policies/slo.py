"""The fastest replica that keeps the promise with room; when none does, the one that misses by least."""

from heterodyne.routing.ask import Ask
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.policies.objective import KEPT, Rank, harm, promise


class Slo:
    """The default."""

    name = "slo"

    def rank(self, ask: Ask, forecast: Forecast) -> Rank:
        """By the time to the first token."""
        kept = promise(forecast)
        if kept == KEPT:
            return kept, forecast.ttft_s, forecast.usd
        return kept, harm(forecast), forecast.ttft_s
