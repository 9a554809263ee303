"""How much room there is, how long it will last, and what would give more."""

from msgspec import Struct


class PoolRoom(Struct, frozen=True, kw_only=True):
    """One pool of a model."""

    pool: str
    hardware: str | None
    tp: int
    replicas: int  # that take work
    load: float | None  # share of its room that is taken, 0 to 1 or more; None: nobody knows its room
    requests_per_s_max: float | None  # within the promise, of requests as they are now; None: no performance model
    basis: str  # what that comes from: measured, physics, or why it is not known


class ForecastPoint(Struct, frozen=True, kw_only=True):
    """Demand at one moment that has not come yet."""

    at: int
    requests_per_s: float
    low: float  # nine times out of ten it lies between the two
    high: float


class LossCheck(Struct, frozen=True, kw_only=True):
    """What is left when the replica that would be missed most is gone."""

    replica: str
    pool: str
    load_after: float | None  # share of the room that would be taken
    is_enough: bool | None  # None: not known


class Purchase(Struct, frozen=True, kw_only=True):
    """What the planner would rent, beside what there is."""

    hardware: str
    tp: int
    replicas: int
    usd_per_hour: float | None


class ModelRoom(Struct, frozen=True, kw_only=True):
    """One model."""

    model: str
    requests_per_s: float  # of the last minutes
    prompt_tokens_mean: float
    completion_tokens_mean: float
    load: float | None
    headroom_requests_per_s: float | None
    pools: tuple[PoolRoom, ...]
    forecast: tuple[ForecastPoint, ...]
    forecast_basis: str  # how it was made, and of how much history
    is_forecast_credible: bool  # whether it has a record here that something may rest on
    full_at: int | None  # when the forecast meets the room; None: not within it
    loss: LossCheck | None  # None: there is only one replica, or none
    purchase: tuple[Purchase, ...]  # for the forecast's peak with one replica lost; empty: nothing is needed
    purchase_note: str  # why nothing is said, where nothing is


class CapacityPage(Struct, frozen=True, kw_only=True):
    """`GET /admin/capacity`."""

    at: float
    models: tuple[ModelRoom, ...]
