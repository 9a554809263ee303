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
        return RequestRecord(**{name: getattr(self, name) for name in RequestRecord.__struct_fields__})
