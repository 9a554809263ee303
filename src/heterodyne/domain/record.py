"""What is written down about one finished request; never the prompt, never the answer."""

from msgspec import Struct

from heterodyne.domain.guard_verdict import GuardVerdict


class FailedTry(Struct, frozen=True, gc=False):
    """One replica that was asked and did not answer."""

    replica: str
    outcome: str  # as of `heterodyne_gateway_attempts_failed_total`


class RequestRecord(Struct, frozen=True, omit_defaults=True, gc=False):
    """One line per request. Times are milliseconds; absent times did not happen.

    `EndedRequest` makes it by place, so the order of the fields is its order; all else names them.
    """

    id: str
    at: float  # seconds since the epoch, when the head was complete
    operation: str
    model: str
    status: int
    pool: str = ""
    replica: str = ""
    reason: str = ""  # the error code, empty when the answer was complete
    stream: bool = False
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0  # of these, thoughts that are not the answer
    is_estimated: bool = False
    ttft_ms: float | None = None  # of an answer that comes whole nobody sees the first token
    itl_ms: float | None = None  # mean gap between streamed events
    total_ms: float = 0.0
    request_bytes: int = 0
    response_bytes: int = 0
    asked_model: str = ""  # the name the client used, where another answered: an alias, or a model it fell back from
    replica_s: float = 0.0  # of the replica's time, as its tokens share it with a batch
    is_hosted_price: bool = False  # by a price list; else a share of what the replica costs by the hour
    retries: int = 0  # attempts on other replicas before the first token
    continuations: int = 0  # replicas that went on where another had broken off
    decision: str = ""  # why the replica was chosen
    predicted_ttft_ms: float | None = None  # when it was
    predicted_itl_ms: float | None = None
    usd: float | None = None  # by the tokens it had; None: nothing was answered, or nobody says what the replica costs
    tenant: str = ""  # the project that asked
    key: str = ""  # the id of its key
    tier: str = ""
    urgency: str = ""  # the request's class, where it is not interactive
    queue_ms: float | None = None  # waited here: for its turn, for the same request's answer, or for another model
    is_hedged: bool = False  # a second replica was asked because the first was late
    hardware: str = ""  # of the replica
    promise: str = ""  # of latency: kept or broken; empty: none was made, or its client failed it or left
    overhead_ms: float = 0.0  # our own work, from the complete request to asking for a connection, less its wait
    connect_ms: float | None = None  # until the replica that answered was sent the request
    trace: str = ""  # the id of its trace; empty: it has none
    failed_tries: tuple[FailedTry, ...] = ()  # in the order in which they were asked
    guards: tuple[GuardVerdict, ...] = ()  # what policies found in it and in its answer
    cache: str = ""  # hit or similar: the answer was kept from another time; miss: none was; empty: nobody looked
    saved_usd: float | None = None  # what a kept answer cost when a replica gave it
    # Which model a cascade let answer, and why, as in `cheap; within_bound`; of a request that a cascade itself sent,
    # what for and for which, as in `tried; smart`; empty: there is none.
    cascade: str = ""
    kv_origin: str = ""  # where KV of its prompt was brought from; empty: nowhere
    kv_bytes: int = 0  # so much was brought
    kv_ms: float | None = None  # it was waited for that, before the engine was asked
    kv_saved_ms: float | None = None  # of TTFT, against what computing it was predicted to take
