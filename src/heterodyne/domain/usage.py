"""What one request used and cost, as the books keep it, and what the books can be asked.

A record is an opening, known when a request is placed, and an ending. All three travel as arrays, so that the bytes of
an opening followed by those of an ending are those of the record: fields are added at the end of an ending, with a
default, and never moved.
"""

from datetime import date
from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.errors import InvalidField

GATEWAY_KILLED = "gateway_killed"  # the reason of a request whose worker died under it
ENGINE_ERROR_EVENT = "engine_error_event"  # of a stream that its engine ended with an error in its own words


class UsageOpening(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """Who asks for what, and where it is asked."""

    id: str
    at: float  # seconds since the epoch, when the request was complete
    organisation: str
    project: str
    key: str
    tier: str
    urgency: str  # the request's class
    operation: str
    model: str
    version: str = ""  # of the weights; empty: nobody says
    pool: str = ""
    replica: str = ""
    hardware: str = ""


class UsageEnding(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """How it ended. Times are milliseconds; absent times did not happen."""

    status: int
    reason: str = ""  # the error code, empty when the answer was complete
    prompt_tokens: int = 0
    cached_tokens: int = 0  # those of the prompt that the engine had already
    completion_tokens: int = 0
    reasoning_tokens: int = 0  # those of the completion that are not shown
    is_estimated: bool = False  # tokens counted by us: the engine gave no usage
    queue_ms: float | None = None
    ttft_ms: float | None = None
    itl_ms: float | None = None
    total_ms: float = 0.0
    predicted_ttft_ms: float | None = None
    predicted_itl_ms: float | None = None
    usd_micro: int = 0  # millionths of a dollar
    is_hosted_price: bool = False  # by a price list; else a share of what a replica costs by the hour
    retries: int = 0
    is_hedged: bool = False
    continuations: int = 0
    replica_s: float = 0.0  # the share of a replica's time that it used
    promise: str = ""  # of latency: kept or broken; empty: nothing was promised
    saved_usd_micro: int = 0  # of an answer from the cache: what it cost when a replica gave it


class UsageRecord(UsageOpening, frozen=True, kw_only=True, array_like=True, gc=False):
    """One finished request: the fields of its opening, then those of its ending."""

    status: int
    reason: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    is_estimated: bool = False
    queue_ms: float | None = None
    ttft_ms: float | None = None
    itl_ms: float | None = None
    total_ms: float = 0.0
    predicted_ttft_ms: float | None = None
    predicted_itl_ms: float | None = None
    usd_micro: int = 0
    is_hosted_price: bool = False
    retries: int = 0
    is_hedged: bool = False
    continuations: int = 0
    replica_s: float = 0.0
    promise: str = ""
    saved_usd_micro: int = 0

    @property
    def is_error(self) -> bool:
        """Whether its client got less than a whole answer."""
        return bool(self.reason)


class FlightTerms(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """What makes a bill of the tokens delivered, should the worker die before the ending is known."""

    prompt_tokens: int = 0  # as estimated; billed once a token was delivered
    usd_per_million_prompt_tokens: float | None = None
    usd_per_million_completion_tokens: float | None = None
    usd_per_hour: float | None = None
    prompt_replica_s: float = 0.0  # of a replica's time: what the prompt takes, and what each token does
    token_replica_s: float = 0.0


class UsageGroup(StrEnum):
    """What usage may be added up by. The values are columns, and nothing else ever becomes one."""

    DAY = "day"
    ORGANISATION = "organisation"
    PROJECT = "project"  # the tenant
    KEY = "key"
    MODEL = "model"
    POOL = "pool"
    CLASS = "class"
    TIER = "tier"
    HARDWARE = "hardware"


class UsageQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whole days of usage, added up."""

    by: tuple[UsageGroup, ...] = ()  # empty: one row for everything
    since: str | None = None  # the first UTC day, as 2026-11-01; None: from the beginning
    until: str | None = None  # the first day that is left out; None: to the end
    where: dict[UsageGroup, str] = {}

    def __post_init__(self) -> None:
        check_day("since", self.since)
        check_day("until", self.until)


class UsageRow(Struct, frozen=True, kw_only=True):
    """The sums of one group."""

    group: dict[UsageGroup, str] = {}
    requests: int = 0
    errors: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    usd_micro: int = 0
    hosted_usd_micro: int = 0  # of these, by price lists
    replica_us: int = 0  # millionths of a second, whole so that sums are exact
    saved_usd_micro: int = 0  # by answers from the cache


class RequestQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Single requests, the newest first, page by page."""

    since_at: float | None = None  # seconds since the epoch
    until_at: float | None = None  # left out itself
    where: dict[UsageGroup, str] = {}
    limit: int = 100
    after: str | None = None  # the `next` of the page before
    id: str | None = None
    status: int | None = None
    reason: str | None = None  # the error code; empty: those that were answered whole
    replica: str | None = None
    errors_only: bool = False
    ttft_ms_min: float | None = None
    total_ms_min: float | None = None
    retried_only: bool = False
    promise: str | None = None  # kept or broken; empty: those without


class RequestPage(Struct, frozen=True, kw_only=True):
    """Some requests."""

    records: tuple[UsageRecord, ...]
    next: str | None  # None: there are no more


class Uptime(Struct, frozen=True, kw_only=True):
    """How long the replicas of a pool were up on a day and what that cost, as far as one supervisor has seen."""

    day: str
    pool: str
    hardware: str
    source: str  # one life of a supervisor; what it says replaces what it said
    up_us: int
    usd_micro: int


class IdleRow(Struct, frozen=True, kw_only=True):
    """What a pool's replicas were paid for, and how much of it requests used."""

    day: str
    pool: str
    hardware: str
    up_us: int
    paid_usd_micro: int
    busy_us: int
    busy_usd_micro: int
    tokens: int  # prompt and answer


def check_day(name: str, day: str | None) -> None:
    """Days are compared as text, so there is one way to write them."""
    try:
        is_right = day is None or date.fromisoformat(day).isoformat() == day
    except ValueError:
        is_right = False
    if not is_right:
        raise InvalidField(f"{name}: a day such as 2026-11-01 is expected.", param=name)
