"""The health of replicas and models as the dashboard and tests see it."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.health.breaker import BreakerState


class Obstacle(StrEnum):
    """Why a replica may not take a request."""

    EJECTED = "ejected"
    BREAKER_OPEN = "breaker_open"
    TRIAL_RUNNING = "trial_running"  # the breaker is half-open and its one request is on its way
    FULL = "full"
    PAUSED = "paused"  # the engine has just said that it is busy
    RATE_LIMITED = "rate_limited"  # its provider says that nothing is left of a limit


class ReplicaHealthSnapshot(Struct, frozen=True, kw_only=True):
    """One replica at one moment."""

    replica: ReplicaId
    obstacle: Obstacle | None  # None: it may take a request
    breaker: BreakerState
    weight: float
    in_flight: int
    in_flight_limit: int
    failures_in_a_row: int
    ejected_until_s: float | None  # None: it is not ejected
    ejections: int
    breaker_opened: int
    ttft_ratio: float | None  # the quantile that hedging waits for; None: not learned yet
    outcomes: dict[str, int]
    remaining: dict[str, float] = {}  # of the provider's rate limits, by what they limit; empty: it says nothing


class ModelHealthSnapshot(Struct, frozen=True, kw_only=True):
    """The replicas of one model together."""

    model: str
    usable: int
    ready: int
    known: int  # ready or down
    is_panicking: bool
    panics: int
    retry_tokens_available: float
    retry_tokens_spent: int
    retries_refused: int
    hedges: int
    hedges_refused: int


class FleetHealthSnapshot(Struct, frozen=True, kw_only=True):
    """Everything that is known of the fleet's health."""

    models: tuple[ModelHealthSnapshot, ...]
    replicas: tuple[ReplicaHealthSnapshot, ...]
    ejections_refused: dict[str, int]  # by pool: the share of the pool did not allow them
