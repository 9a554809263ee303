"""What is known of a request that has ended, on its way to metrics, books and whoever asks for its record."""

from typing import final

from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.domain.record import FailedTry, RequestRecord


@final
class EndedRequest:
    """The fields of `RequestRecord`, which is made where a record is written or shown: many are not.

    Whoever makes one sets all of them: forty arguments would cost more than the rest of a request's end.
    """

    __slots__ = RequestRecord.__struct_fields__

    id: str
    at: float
    operation: str
    model: str
    status: int
    pool: str
    replica: str
    reason: str
    stream: bool
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    is_estimated: bool
    ttft_ms: float | None
    itl_ms: float | None
    total_ms: float
    request_bytes: int
    response_bytes: int
    asked_model: str
    replica_s: float
    is_hosted_price: bool
    retries: int
    continuations: int
    decision: str
    predicted_ttft_ms: float | None
    predicted_itl_ms: float | None
    usd: float | None
    tenant: str
    key: str
    tier: str
    urgency: str
    queue_ms: float | None
    is_hedged: bool
    hardware: str
    promise: str
    overhead_ms: float
    connect_ms: float | None
    trace: str
    failed_tries: tuple[FailedTry, ...]
    guards: tuple[GuardVerdict, ...]
    cache: str
    saved_usd: float | None
    cascade: str
    kv_origin: str
    kv_bytes: int
    kv_ms: float | None
    kv_saved_ms: float | None

    def record(self) -> RequestRecord:
        """What is written down of it."""
        # fmt: off
        # By place: forty names cost five times what the record does.
        return RequestRecord(
            self.id, self.at, self.operation, self.model, self.status, self.pool, self.replica, self.reason,
            self.stream, self.prompt_tokens, self.cached_tokens, self.completion_tokens, self.reasoning_tokens,
            self.is_estimated, self.ttft_ms, self.itl_ms, self.total_ms, self.request_bytes, self.response_bytes,
            self.asked_model, self.replica_s, self.is_hosted_price, self.retries, self.continuations, self.decision,
            self.predicted_ttft_ms, self.predicted_itl_ms, self.usd, self.tenant, self.key, self.tier, self.urgency,
            self.queue_ms, self.is_hedged, self.hardware, self.promise, self.overhead_ms, self.connect_ms, self.trace,
            self.failed_tries, self.guards, self.cache, self.saved_usd, self.cascade,
            self.kv_origin, self.kv_bytes, self.kv_ms, self.kv_saved_ms,
        )
        # fmt: on
