"""What the fleet did, added up by the minute, and what that history can be asked."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.errors import InvalidField

MINUTE_S = 60
POINTS_MAX = 2000  # of one series


class HistoryGroup(StrEnum):
    """What minutes are kept by; tenants, who may be many, are in the days of the books."""

    MODEL = "model"
    POOL = "pool"
    HARDWARE = "hardware"
    TIER = "tier"
    CLASS = "class"


class Distribution(Struct, frozen=True, kw_only=True, array_like=True):
    """How often a time of each length occurred; `domain.spread` says which lengths a bucket is for."""

    counts: dict[int, int] = {}
    sum_ms: float = 0.0


class Sums(Struct, frozen=True, kw_only=True):
    """What some requests add up to."""

    requests: int = 0
    errors: int = 0  # of these, the ones whose client got less than a whole answer
    refused: int = 0  # of the errors, those for which no replica was asked
    promised: int = 0  # requests with a promise of latency
    kept: int = 0  # of these, the ones whose promise was kept
    retried: int = 0
    hedged: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    usd_micro: int = 0
    replica_us: int = 0  # of replicas' time, millionths of a second
    ttft: Distribution = Distribution()  # of answered requests, from the decision on
    itl: Distribution = Distribution()
    total: Distribution = Distribution()
    queue: Distribution = Distribution()  # of those that waited
    ttft_error: Distribution = Distribution()  # |ln(actual / predicted)| in thousandths, where there was a prediction
    itl_error: Distribution = Distribution()
    faults: int = 0  # of the errors, those that are the fleet's and not the caller's: see `domain.outcome`


class HistoryQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A span of time, cut into steps, by groups."""

    since_at: float  # seconds since the epoch; rounded down to a minute
    until_at: float  # left out itself; rounded up to a minute
    step_s: int = MINUTE_S  # whole minutes
    by: tuple[HistoryGroup, ...] = ()  # empty: one series for everything
    where: dict[HistoryGroup, str] = {}

    def __post_init__(self) -> None:
        if not 0 <= self.since_at < self.until_at:
            raise InvalidField("since_at, until_at: a span of time that begins before it ends.", param="since_at")
        if self.step_s < MINUTE_S or self.step_s % MINUTE_S:
            raise InvalidField("step_s: whole minutes, as 60 or 300.", param="step_s")
        if (self.until_at - self.since_at) / self.step_s > POINTS_MAX:
            raise InvalidField(f"step_s: more than {POINTS_MAX} steps; take longer ones.", param="step_s")


class Step(Struct, frozen=True, kw_only=True):
    """One step of a series in which anything happened."""

    at: int  # seconds since the epoch
    sums: Sums


class Series(Struct, frozen=True, kw_only=True):
    """One group through time."""

    group: dict[HistoryGroup, str]
    steps: tuple[Step, ...]  # in the order of time


class History(Struct, frozen=True, kw_only=True):
    """The answer, over the span that was meant."""

    since_at: int
    until_at: int
    step_s: int
    series: tuple[Series, ...]
