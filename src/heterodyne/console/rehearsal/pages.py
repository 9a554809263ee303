"""What another policy would have made of the requests that came: the same traffic, through the simulator."""

from typing import Annotated

from msgspec import Meta, Struct


class RehearsalRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /admin/rehearsal`."""

    model: str
    policies: Annotated[tuple[str, ...], Meta(min_length=1, max_length=6)] = ("slo", "cost", "load")
    since_at: float | None = None  # None: an hour ago
    until_at: float | None = None  # None: now
    requests_max: Annotated[int, Meta(ge=10, le=20_000)] = 2000  # the latest of the span
    slo_ttft_ms: Annotated[float, Meta(gt=0)] = 1000.0
    slo_itl_ms: Annotated[float, Meta(gt=0)] = 50.0


class RehearsalPool(Struct, frozen=True, kw_only=True):
    """What a pool had of it."""

    pool: str
    requests: int
    busy_share: float
    usd: float | None


class RehearsalRow(Struct, frozen=True, kw_only=True):
    """One policy."""

    policy: str
    is_used: bool  # it is the model's own
    attainment: float
    ttft_p50_ms: float
    ttft_p99_ms: float
    itl_p50_ms: float
    usd: float | None  # of all replicas for the whole span
    usd_busy: float | None  # of the time that requests used
    usd_per_million_output_tokens_within_slo: float | None
    pools: tuple[RehearsalPool, ...]


class RehearsalPage(Struct, frozen=True, kw_only=True):
    """All policies under the same traffic."""

    model: str
    requests: int
    since_at: float
    until_at: float
    rows: tuple[RehearsalRow, ...]
    left_out: tuple[str, ...]  # pools that the simulator knows nothing of
    notes: tuple[str, ...]
