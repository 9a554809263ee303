"""Where one request goes, what it should take there, and why."""

from msgspec import Struct

from heterodyne.domain.decision import Reason
from heterodyne.domain.fleet import Replica
from heterodyne.routing.forecast import Forecast


class Choice(Struct, frozen=True, gc=False):
    """The outcome of a decision."""

    forecast: Forecast
    promise: int  # see `policies.objective`
    reason: Reason

    @property
    def target(self) -> Replica:
        """The replica to ask."""
        return self.forecast.seat.replica
