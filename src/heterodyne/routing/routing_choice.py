"""Where one request goes, whence the KV of its prompt comes, and what it would take on each replica compared."""

from typing import Final, final

from heterodyne.domain.fleet import Replica
from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.domain.routing_rule import Reason
from heterodyne.routing.prediction.band import Band
from heterodyne.routing.prediction.pool_speed import ForecastTimes
from heterodyne.routing.replica_state import ReplicaState

SAMPLES_MIN: Final = 8


@final
class Forecast(ForecastTimes):
    """One candidate. What its TTFT is made of is kept, so that the measured TTFT can be held against it."""

    __slots__ = (
        "load",
        "risk",
        "share_s",
        "state",
        "usd",
    )

    def __init__(  # noqa: PLR0917  # one place makes it, by position: see there
        self,
        state: ReplicaState,
        ttft_band: Band,
        ttft_s: float,
        ttft_low_s: float,
        ttft_high_s: float,
        itl_s: float,
        itl_low_s: float,
        itl_high_s: float,
        risk: float,
        share_s: float,
        usd: float,
        load: float,
        cached_tokens: float,
        work_s: float,
        steps_s: float,
        backlog_s: float,
        room_s: float,
        link_s: float,
    ) -> None:
        self.state = state
        self.ttft_band = ttft_band
        self.ttft_s = ttft_s
        self.ttft_low_s, self.ttft_high_s = ttft_low_s, ttft_high_s
        self.itl_s = itl_s
        self.itl_low_s, self.itl_high_s = itl_low_s, itl_high_s
        self.risk = risk  # SLOs that it is expected to miss: its own, and those of other requests on the replica
        self.share_s = share_s  # of the replica's time: its prompt, and its part of the steps of a batch
        self.usd = usd  # infinite: the replica's price is not known
        self.load = load  # share of its capacity that is taken, 1 or more when it is full
        self.cached_tokens = cached_tokens
        self.work_s = work_s
        self.steps_s = steps_s
        self.backlog_s = backlog_s
        self.room_s = room_s
        self.link_s = link_s

    @property
    def wait_s(self) -> float:
        """Time in the replica's queue."""
        return self.room_s or self.backlog_s


@final
class KvPlan:
    """How KV is brought to the chosen replica instead of being computed there. What fails is computed after all."""

    __slots__ = (
        *("byte_count", "forecast", "origin", "prefill", "queued_s", "saved_s", "saved_usd", "source", "store"),
        *("takes_s", "tokens"),
    )

    def __init__(
        self,
        origin: KvOrigin,
        forecast: Forecast,
        *,
        tokens: float,
        byte_count: float,
        takes_s: float,
        queued_s: float,
        saved_s: float,
        saved_usd: float,
        source: ReplicaState | None = None,
        store: str = "",
        prefill: Forecast | None = None,
    ) -> None:
        self.origin = origin
        self.forecast = forecast  # of the request with it, on the replica that answers
        self.source = source  # that holds it, or is to compute it; None: no replica does
        self.store = store  # empty: it comes from no store
        self.tokens = tokens  # of the prompt, from its beginning, that are there when it has come
        self.byte_count = byte_count
        self.takes_s = takes_s  # to bring it, from when it is asked for; what computing it elsewhere takes included
        self.queued_s = queued_s  # of that, behind other transfers of who sends it
        self.saved_s = saved_s  # of TTFT, against the best choice without a plan
        self.saved_usd = saved_usd  # the same; below 0 where time was worth the money
        self.prefill = prefill  # on the replica that computes it; None: it is held already


@final
class RoutingChoice:
    """Where one request goes, what it should take there, and why."""

    __slots__ = (
        "alone",
        "forecast",
        "is_repeated",
        "kv_options",
        "kv_plan",
        "kv_withheld",
        "others",
        "plain",
        "reason",
        "slo_outlook",
    )

    def __init__(
        self,
        forecast: Forecast,
        slo_outlook: int,
        reason: Reason,
        others: tuple[Forecast, ...] = (),
        *,
        is_repeated: bool = False,
        kv_plan: KvPlan | None = None,
        kv_options: tuple[KvPlan, ...] = (),
        kv_withheld: KvPlan | None = None,
        plain: Forecast | None = None,
        alone: tuple[Forecast, ...] = (),
    ) -> None:
        self.forecast = forecast
        self.slo_outlook = slo_outlook  # see `slo_outlook`
        self.reason = reason
        self.others = others  # that were compared, the chosen one or not; some may be there twice
        self.is_repeated = is_repeated  # made for the request before; this one is neither counted nor learned from
        self.kv_plan = kv_plan  # None: the replica computes what it does not hold, as the forecast has it
        self.kv_options = kv_options  # that were compared with computing it, the chosen one or not
        self.kv_withheld = kv_withheld  # better, and not done, to see what computing it takes; None: as usual
        self.plain = forecast if plain is None else plain  # the best with nothing brought
        self.alone = alone  # the same on replicas that are there for answers, and were compared with it

    def plainly(self) -> "RoutingChoice":
        """For whoever brings no KV: the best without any."""
        if self.kv_plan is None:
            return self
        return RoutingChoice(self.plain, self.slo_outlook, self.reason, self.others)

    def compared(
        self, options: tuple[KvPlan, ...], alone: tuple[Forecast, ...], withheld: KvPlan | None = None
    ) -> "RoutingChoice":
        """The same, after it was compared with these."""
        return RoutingChoice(
            self.forecast,
            self.slo_outlook,
            self.reason,
            self.others,
            is_repeated=self.is_repeated,
            kv_options=options,
            kv_withheld=withheld,
            alone=alone,
        )

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
