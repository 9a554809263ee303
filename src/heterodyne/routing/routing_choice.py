"""Where one request goes, what it should take there, and why."""

from msgspec import Struct

from heterodyne.domain.decision import Reason
from heterodyne.domain.fleet import Replica
from heterodyne.routing.forecast import Forecast

SAMPLES_MIN = 8


class RoutingChoice(Struct, frozen=True, gc=False):
    """The outcome of a decision."""

    forecast: Forecast
    slo_outlook: int  # see `policies.objective`
    reason: Reason
    others: tuple[Forecast, ...] = ()  # that were compared, the chosen one or not; some may be there twice
    is_repeated: bool = False  # made for the request before; this one is neither counted nor learned from

    @property
    def alone_s(self) -> float:
        """The TTFT to expect there if nobody were before the request; 0 while too little is known of the pool."""
        forecast = self.forecast
        if forecast.state.ttft_band(forecast).samples < SAMPLES_MIN:
            return 0.0
        return forecast.ttft_s - forecast.wait_s

    @property
    def target(self) -> Replica:
        """The replica to ask."""
        return self.forecast.state.replica
