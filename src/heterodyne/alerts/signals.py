"""What judges read: sums of request records over windows, the fleet now, and how books, audit log and limits stand.

A part that could not be read is None, so that an alert about it neither begins nor ends.
"""

from enum import StrEnum

from msgspec import Struct


class AlertWindow(StrEnum):
    """A span of time that ends now, as Prometheus writes it."""

    M5 = "5m"
    M30 = "30m"
    H1 = "1h"
    H6 = "6h"
    D3 = "3d"

    @property
    def seconds(self) -> int:
        return int(self.value[:-1]) * {"m": 60, "h": 3600, "d": 86400}[self.value[-1]]


class WindowCounts(Struct, frozen=True, kw_only=True):
    """How many requests of a window went wrong."""

    requests: int = 0
    faults: int = 0  # that failed through the fleet, not through the caller
    promised: int = 0
    broken: int = 0


class TtftPercentile(Struct, frozen=True, kw_only=True):
    """One percentile of times to the first token."""

    count: int
    ms: float


class ModelSignals(Struct, frozen=True, kw_only=True):
    """The requests of one model."""

    model: str  # empty: those that were turned away before their model was known
    tallies: dict[AlertWindow, WindowCounts]
    ttft_p99: TtftPercentile | None = None  # of five minutes; None: there was no first token
    ttft_p999: TtftPercentile | None = None  # of thirty


class PredictionSignals(Struct, frozen=True, kw_only=True):
    """How far predictions were off in a pool, over the last quarter of an hour."""

    pool: str
    count: int
    median: float  # |ln(actual / predicted)|


class QueueSignals(Struct, frozen=True, kw_only=True):
    """Requests of a model that wait in the gateway for their turn."""

    model: str
    depth: float
    depth_before: float | None  # five minutes ago; None: there was no look then


class PoolSignals(Struct, frozen=True, kw_only=True):
    """One pool now. None: it is not known."""

    pool: str
    ready: int
    down: int
    wanted: int  # replicas that were ready and should be: they are down, or restart
    starting: int  # that have not been ready yet
    in_flight: int
    in_flight_max: int | None
    running: int | None
    waiting: int | None
    kv_share: float | None


class ReplicaSignals(Struct, frozen=True, kw_only=True):
    """One replica now."""

    replica: str
    is_ejected: bool
    restarts: int  # in the last half hour


class DriftSignals(Struct, frozen=True, kw_only=True):
    """A replica that is asked the same questions again and again."""

    replica: str
    kl_nats: float  # of its answers now from its first ones


class BooksSignals(Struct, frozen=True, kw_only=True):
    """How usage gets into the store."""

    problem: str | None  # None: it does
    filled: float  # share of the spool that is full
    damaged: int  # segments that hold bytes that are no records, in the last half hour


class AuditSignals(Struct, frozen=True, kw_only=True):
    """How entries get into the audit log."""

    problem: str | None  # None: they do
    failures: int  # in the last half hour


class LimitSignals(Struct, frozen=True, kw_only=True):
    """A limit of an organisation or project."""

    level: str  # organisation:acme, project:acme/search
    limit: str  # usd_per_day
    ratio: float  # of it that is used


class AbuseSignals(Struct, frozen=True, kw_only=True):
    """What a policy against abuse holds now."""

    policy: str
    keys: int


class DiscoverySignals(Struct, frozen=True, kw_only=True):
    """A pool whose replicas a cluster knows."""

    pool: str
    heard_at: float | None  # by the wall's clock; None: never yet


class ScaledModelSignals(Struct, frozen=True, kw_only=True):
    """A model whose pools grow and shrink by themselves; figures are usual requests a second."""

    model: str
    needed: float
    most: float  # that all replicas that limits allow would carry
    is_paused: bool
    short: str  # what is missing, why, and what would mend it; empty: enough is there or coming


class ScaledPoolSignals(Struct, frozen=True, kw_only=True):
    """A pool that grows and shrinks by itself."""

    pool: str
    cold_start_s: float
    away_s: float | None  # for so long its driver has not answered; None: it does
    problem: str


class CertificateSignals(Struct, frozen=True, kw_only=True):
    """One that we show."""

    setting: str
    ends_at: float | None  # seconds since the epoch; None: it cannot be read


class Signals(Struct, frozen=True, kw_only=True):
    """Everything at one moment."""

    at: float  # seconds since the epoch
    models: tuple[ModelSignals, ...] | None = None
    predictions: tuple[PredictionSignals, ...] | None = None
    queues: tuple[QueueSignals, ...] | None = None
    pools: tuple[PoolSignals, ...] | None = None
    replicas: tuple[ReplicaSignals, ...] | None = None
    drifts: tuple[DriftSignals, ...] | None = None
    worker_restarts: int | None = None  # of the gateway's workers, in the last half hour
    abuse: tuple[AbuseSignals, ...] | None = None
    certificates: tuple[CertificateSignals, ...] | None = None
    discoveries: tuple[DiscoverySignals, ...] | None = None
    scaled_models: tuple[ScaledModelSignals, ...] | None = None
    scaled_pools: tuple[ScaledPoolSignals, ...] | None = None
    reports_away: bool | None = None  # whether the store through which gateways tell each other of the fleet is away
    settings_apart: tuple[str, ...] | None = None  # gateways that work by other settings than this one
    guard_failures: int | None = None  # texts that no guard could look at, in the last half hour
    books: BooksSignals | None = None
    audit: AuditSignals | None = None
    limits: tuple[LimitSignals, ...] | None = None
