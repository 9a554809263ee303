"""What is pushed to every open console once a second."""

from msgspec import Struct

from heterodyne.console.fleet.pages import ReplicaCondition
from heterodyne.console.history.pages import Figures
from heterodyne.domain.fleet import Purpose


class PoolRow(Struct, frozen=True, kw_only=True):
    """One pool now: what its workers see, and what its requests of the last minute add up to."""

    pool: str
    model: str
    hardware: str | None
    engine: str
    tp: int
    purpose: Purpose | None  # None: whatever its engines answer
    replicas: int
    local: int  # of the replicas, those started here, which alone can be restarted
    ready: int
    drained: int
    down: int
    in_flight: int  # of this gateway; what its engines say below is of all
    in_flight_max: int | None  # what it may have at once, where that is known
    running: int | None  # sequences in the batches of its engines, as they say
    waiting: int | None  # in its engines' queues
    load: float | None  # share of its room that is taken; None: nobody knows its room
    kv_share: float | None  # mean of its replicas
    prefix_hit_share: float | None  # since its engines started
    usd_per_hour: float | None  # of all its replicas; None: it is paid by the token, or nobody says
    usd_per_million_prompt_tokens: float | None
    usd_per_million_completion_tokens: float | None
    problems: tuple[str, ...]
    last_minute: Figures
    spark_at: int  # of the first point of the sparks
    spark_step_s: int
    spark_ttft_p50_ms: tuple[float | None, ...]
    spark_tokens_per_s: tuple[float, ...]


class ReplicaLine(Struct, frozen=True, kw_only=True):
    """One replica, in few bytes: there may be hundreds."""

    id: str
    pool: str
    state: ReplicaCondition
    in_flight: int
    running: int | None
    waiting: int | None
    kv_share: float | None
    problems: tuple[str, ...]
    is_ejected: bool
    is_local: bool  # started here


class RequestLine(Struct, frozen=True, kw_only=True):
    """One finished request, for the list."""

    id: str
    at: float
    project: str
    tier: str
    urgency: str
    model: str
    pool: str
    replica: str
    status: int
    reason: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    queue_ms: float | None
    ttft_ms: float | None
    predicted_ttft_ms: float | None
    itl_ms: float | None
    total_ms: float
    usd: float
    retries: int
    promise: str  # kept, broken; empty: nothing was promised


class AlertLine(Struct, frozen=True, kw_only=True):
    """Something an operator should know."""

    name: str
    severity: str  # page, ticket
    subject: str  # what it is about: a pool, a model, the gateway
    summary: str
    since_at: float
    guide: str  # where to read on


class GatewayLine(Struct, frozen=True, kw_only=True):
    """Another gateway over the same fleet, whose requests are in the sums of this page."""

    name: str
    settings: str  # the version it works by; "": it tells none
    in_flight: int
    queued: int
    last_minute: Figures


class LivePage(Struct, frozen=True, kw_only=True):
    """`GET /admin/live`, an event a second; and `GET /admin/now`, once."""

    at: float
    window_s: int  # over which `last_minute` is
    version: int  # of the fleet
    settings: str  # the version that this gateway works by
    in_flight: int
    queued: int  # waiting for their turn
    gateways: tuple[GatewayLine, ...]  # the others that are heard of; counts and sums are of all of them together
    whole: Figures  # of the last minute
    usd_per_hour: float  # what all replicas together are paid
    pools: tuple[PoolRow, ...]
    replicas: tuple[ReplicaLine, ...]
    requests: tuple[RequestLine, ...]  # since the event before, the newest first; some are left out when they are many
    left_out: int  # of the requests
    alerts: tuple[AlertLine, ...]
    problems: tuple[str, ...]  # of what the console itself lives on: books that stall, workers that are late
    until_at: int  # the end of `last_minute`: of the requests that ended in the whole seconds of the window before it
