"""What is known of a request that has ended, on its way to metrics, books and whoever asks for its record."""

from typing import final

from heterodyne.domain.record import FailedTry, RequestRecord


@final
class EndedRequest:
    """The fields of `RequestRecord`, which is made where a record is written or shown: many are not.

    Whoever makes one sets what is not as below: forty arguments would cost more than the rest of a request's end.
    """

    id: str = ""
    at: float = 0.0
    operation: str = ""
    model: str = ""
    status: int = 0
    pool: str = ""
    replica: str = ""
    reason: str = ""
    stream: bool = False
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    is_estimated: bool = False
    ttft_ms: float | None = None
    itl_ms: float | None = None
    total_ms: float = 0.0
    request_bytes: int = 0
    response_bytes: int = 0
    asked_model: str = ""
    replica_s: float = 0.0
    is_hosted_price: bool = False
    retries: int = 0
    continuations: int = 0
    decision: str = ""
    predicted_ttft_ms: float | None = None
    predicted_itl_ms: float | None = None
    usd: float | None = None
    tenant: str = ""
    key: str = ""
    tier: str = ""
    urgency: str = ""
    queue_ms: float | None = None
    is_hedged: bool = False
    hardware: str = ""
    promise: str = ""
    overhead_ms: float = 0.0
    connect_ms: float | None = None
    trace: str = ""
    failed_tries: tuple[FailedTry, ...] = ()

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
