"""What is known of a request that has ended, on its way to metrics, books and whoever asks for its record."""

from typing import final

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

    def record(self) -> RequestRecord:
        """What is written down of it."""
        return RequestRecord(
            id=self.id,
            at=self.at,
            operation=self.operation,
            model=self.model,
            status=self.status,
            pool=self.pool,
            replica=self.replica,
            reason=self.reason,
            stream=self.stream,
            prompt_tokens=self.prompt_tokens,
            cached_tokens=self.cached_tokens,
            completion_tokens=self.completion_tokens,
            reasoning_tokens=self.reasoning_tokens,
            is_estimated=self.is_estimated,
            ttft_ms=self.ttft_ms,
            itl_ms=self.itl_ms,
            total_ms=self.total_ms,
            request_bytes=self.request_bytes,
            response_bytes=self.response_bytes,
            asked_model=self.asked_model,
            replica_s=self.replica_s,
            is_hosted_price=self.is_hosted_price,
            retries=self.retries,
            continuations=self.continuations,
            decision=self.decision,
            predicted_ttft_ms=self.predicted_ttft_ms,
            predicted_itl_ms=self.predicted_itl_ms,
            usd=self.usd,
            tenant=self.tenant,
            key=self.key,
            tier=self.tier,
            urgency=self.urgency,
            queue_ms=self.queue_ms,
            is_hedged=self.is_hedged,
            hardware=self.hardware,
            promise=self.promise,
            overhead_ms=self.overhead_ms,
            connect_ms=self.connect_ms,
            trace=self.trace,
            failed_tries=self.failed_tries,
        )
