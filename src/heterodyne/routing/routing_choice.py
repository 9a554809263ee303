"""Where one request goes, and what it would take on each replica that was compared."""

from msgspec import Struct

from heterodyne.domain.fleet import Replica
from heterodyne.domain.routing_rule import Reason
from heterodyne.routing.prediction.pool_speed import Band
from heterodyne.routing.replica_state import ReplicaState

SAMPLES_MIN = 8


class Forecast(Struct, frozen=True, gc=False):
    """One candidate. What its TTFT is made of is kept, so that the measured TTFT can be held against it."""

    state: ReplicaState
    ttft_band: Band  # how far from `ttft_s` such requests lie
    ttft_s: float
    ttft_high_s: float  # 19 times out of 20 it is sooner
    itl_s: float
    itl_high_s: float
    risk: float  # SLOs that it is expected to miss: its own, and those of other requests on the replica
    share_s: float  # of the replica's time: its prompt, and its part of the steps of a batch
    usd: float  # infinite: the replica's price is not known
    load: float  # share of its capacity that is taken, 1 or more when it is full
    cached_tokens: float
    work_s: float  # its prompt alone, by the prior
    steps_s: float  # steps of others that its prompt shares or waits for, by the prior
    backlog_s: float  # until the prompts before it are done
    room_s: float  # until there is memory or a slot, where that is later
    link_s: float  # to fetch what another replica has of its prompt

    @property
    def wait_s(self) -> float:
        """Time in the replica's queue."""
        return self.room_s or self.backlog_s

    @property
    def ttft_low_s(self) -> float:
        """19 times out of 20 it is later."""
        return self.ttft_s * self.ttft_band.low

    @property
    def itl_low_s(self) -> float:
        """The same, of the time between tokens."""
        return self.itl_s * self.state.speed.itl_band.low


class RoutingChoice(Struct, frozen=True, gc=False):
    """Where one request goes, what it should take there, and why."""

    forecast: Forecast
    slo_outlook: int  # see `slo_outlook`
    reason: Reason
    others: tuple[Forecast, ...] = ()  # that were compared, the chosen one or not; some may be there twice
    is_repeated: bool = False  # made for the request before; this one is neither counted nor learned from

    @property
    def alone_s(self) -> float:
        """The TTFT to expect there with an empty queue; 0 while too little is known of the pool."""
        forecast = self.forecast
        if forecast.ttft_band.samples < SAMPLES_MIN:
            return 0.0
        return forecast.ttft_s - (forecast.room_s or forecast.backlog_s)

    @property
    def target(self) -> Replica:
        """The replica that is chosen."""
        return self.forecast.state.replica
