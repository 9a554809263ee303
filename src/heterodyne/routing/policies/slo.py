"""The fastest replica that keeps the promise with room; when none does, the one that misses by least."""

from heterodyne.routing.ask import Ask
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.policies.objective import KEPT, Rank, promise


class Slo:
    """The default."""

    name = "slo"

    def rank(self, ask: Ask, forecast: Forecast) -> Rank:
        """By the time to the first token."""
        kept = promise(forecast)
        return kept, forecast.ttft_s if kept == KEPT else forecast.risk, forecast.usd
