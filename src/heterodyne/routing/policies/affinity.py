"""Preferred hardware while it keeps the promise, then any other that does."""

from heterodyne.routing.ask import Ask
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.policies.objective import KEPT, Preference, Rank, harm, promise


class Affinity:
    """Hard requirements are no preference: they decide who is a candidate at all."""

    name = "affinity"

    def __init__(self, preference: Preference) -> None:
        self._preference = preference

    def rank(self, ask: Ask, forecast: Forecast) -> Rank:
        """Those it prefers first, each by time."""
        kept = promise(forecast)
        if kept == KEPT:
            return kept, 0.0 if self._preference.prefers(forecast.seat.replica) else 1.0, forecast.ttft_s
        return kept, harm(forecast), forecast.usd
