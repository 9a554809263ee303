"""History as the console reads it: every figure is made from the sums of request records of one span of time."""

from msgspec import Struct

from heterodyne.domain.history import HistoryGroup


class LatencyPercentiles(Struct, frozen=True, kw_only=True):
    """A distribution of times; percentiles are the middles of buckets, within three per cent."""

    count: int
    mean_ms: float | None  # None: there was none
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    p999_ms: float | None


class Figures(Struct, frozen=True, kw_only=True):
    """What happened in a span of time."""

    requests: int
    errors: int
    failed: int  # of the errors, those that are the fleet's; the others were refused, or left by their clients
    refused: int
    promised: int
    kept: int
    retried: int
    hedged: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    usd: float
    replica_s: float
    requests_per_s: float
    tokens_per_s: float  # prompt and answer
    output_tokens_per_s: float
    usd_per_million_tokens: float | None  # of time that was used; None: no tokens
    attainment: float | None  # share of promises kept; None: nothing was promised
    ttft: LatencyPercentiles
    itl: LatencyPercentiles
    total: LatencyPercentiles
    queue: LatencyPercentiles
    ttft_error: float | None  # median |ln(actual / predicted)|; None: nothing was predicted
    itl_error: float | None


class HistoryPoint(Struct, frozen=True, kw_only=True):
    """One step."""

    at: int
    figures: Figures


class HistoryLine(Struct, frozen=True, kw_only=True):
    """One group through time, and all of it together."""

    group: dict[HistoryGroup, str]
    whole: Figures
    points: tuple[HistoryPoint, ...]


class HistoryPage(Struct, frozen=True, kw_only=True):
    """`GET /admin/history`."""

    since_at: int
    until_at: int
    step_s: int
    lines: tuple[HistoryLine, ...]


class Bar(Struct, frozen=True, kw_only=True):
    """One bucket of a distribution."""

    up_to_ms: float
    count: int


class Distributions(Struct, frozen=True, kw_only=True):
    """One group over the whole span."""

    group: dict[HistoryGroup, str]
    figures: Figures
    ttft: tuple[Bar, ...]
    itl: tuple[Bar, ...]
    total: tuple[Bar, ...]
    queue: tuple[Bar, ...]


class LatencyPage(Struct, frozen=True, kw_only=True):
    """`GET /admin/latency`."""

    since_at: int
    until_at: int
    groups: tuple[Distributions, ...]
