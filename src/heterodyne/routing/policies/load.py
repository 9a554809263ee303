"""The replica with the most room: an even spread over whatever capacity there is."""

from heterodyne.routing.ask import Ask
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.policies.objective import Rank


class Load:
    """Promises play no part."""

    name = "load"

    def rank(self, ask: Ask, forecast: Forecast) -> Rank:
        """By the share of its room that is taken, then by time."""
        return 0, forecast.load, forecast.ttft_s
