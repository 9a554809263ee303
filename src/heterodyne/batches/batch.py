"""A batch as it is kept: what clients see of it, and what only we need to go on with it."""

from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct

from heterodyne.ports.document_store import Document

KIND: Final = "batch"
WORK: Final = "batch.work"  # a document beside it, while it is not over
ENDED: Final = "batch.ended"  # and one from its end on, by which operators find it
EVERYBODY: Final = "*"  # the project of both; no tenant can have this name
OPENAI_API: Final = "openai"
ANTHROPIC_API: Final = "anthropic"
PROBLEMS_SHOWN_MAX: Final = 100


class BatchStatus(StrEnum):
    """OpenAI's words, in their order; the last four are ends."""

    VALIDATING = "validating"
    IN_PROGRESS = "in_progress"
    CANCELLING = "cancelling"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        """Nothing changes any more."""
        return self in ENDS


CANCELLABLE: Final = frozenset({BatchStatus.VALIDATING, BatchStatus.IN_PROGRESS})
ENDS: Final = frozenset({BatchStatus.COMPLETED, BatchStatus.FAILED, BatchStatus.EXPIRED, BatchStatus.CANCELLED})


class BatchProblem(Struct, frozen=True, kw_only=True):
    """What is wrong with the input, or with one of its lines."""

    code: str
    message: str
    line: int | None = None  # counted from 1
    param: str | None = None


class BatchCounts(Struct, frozen=True, kw_only=True):
    """Of its lines; those that nobody will answer any more are told apart in `unanswered`."""

    total: int = 0
    completed: int = 0
    failed: int = 0


class BatchTokens(Struct, frozen=True, kw_only=True):
    """Of all answers together."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0


class Batch(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Times are seconds since the epoch; None: not yet, or never."""

    id: str
    project: str
    key: str  # the id of the key that it is worked off with
    api: str = OPENAI_API
    endpoint: str
    input_file: str
    output_file: str  # an id from the beginning on, so that an end that is repeated ends in the same files
    error_file: str
    window: str  # as it was asked for
    expires_at: float
    metadata: dict[str, str] | None = None
    status: BatchStatus = BatchStatus.VALIDATING
    times: dict[str, float] = {}  # by status, when it came to it
    counts: BatchCounts = BatchCounts()
    unanswered: int = 0  # lines that were given up, by a cancellation or at the end of the window
    tokens: BatchTokens | None = None
    problems: tuple[BatchProblem, ...] = ()
    has_output: bool = False
    has_errors: bool = False
    expected_at: float | None = None  # when its last line will be answered, by how it goes

    def come_to(self, status: BatchStatus, at: float) -> "Batch":
        """The same, having come to a status."""
        return msgspec.structs.replace(self, status=status, times={**self.times, status.value: at})

    def cancelling(self, at: float) -> "Batch":
        """The same, to be cancelled; itself where that is so already, or where it is too late for it."""
        return self.come_to(BatchStatus.CANCELLING, at) if self.status in CANCELLABLE else self

    @property
    def is_late(self) -> bool:
        """Whether it is not expected to be done in its window."""
        return self.expected_at is not None and self.expected_at > self.expires_at

    def as_document(self, *, created_at: float, kept_until: float) -> Document:
        """To be added."""
        return Document(
            id=self.id,
            project=self.project,
            kind=KIND,
            parent=self.api,  # by which lists ask
            created_at=created_at,
            expires_at=kept_until,
            body=encode_batch(self),
        )


encode_batch = msgspec.json.Encoder().encode
decode_batch = msgspec.json.Decoder(Batch).decode


class BatchLease(Struct, frozen=True, kw_only=True):
    """Which gateway works on a batch: the body of its work document, and of what is left of that at its end."""

    project: str
    batch: str
    holder: str = ""  # empty: nobody
    until: float = 0.0


encode_lease = msgspec.json.Encoder().encode
decode_lease = msgspec.json.Decoder(BatchLease).decode


def work_document(batch: Batch, *, created_at: float, kept_until: float) -> Document:
    """What gateways find it by; deleted at its end."""
    return Document(
        id=work_id(batch.id),
        project=EVERYBODY,
        kind=WORK,
        created_at=created_at,
        expires_at=kept_until,
        body=encode_lease(BatchLease(project=batch.project, batch=batch.id)),
    )


def ended_document(batch: Batch, *, kept_until: float) -> Document:
    """What operators find it by, in the order of their ends."""
    assert batch.status.is_end
    return Document(
        id=f"ended_{batch.id}",
        project=EVERYBODY,
        kind=ENDED,
        created_at=batch.times[batch.status.value],
        expires_at=kept_until,
        body=encode_lease(BatchLease(project=batch.project, batch=batch.id)),
    )


def work_id(batch_id: str) -> str:
    """Of the document beside it."""
    return f"work_{batch_id}"


def openai_batch(batch: Batch, created_at: float) -> dict[str, Any]:
    """As OpenAI's clients know it; what is not there yet is not told."""
    times = {f"{status.value}_at": batch.times.get(status.value) for status in BatchStatus if status in TOLD_TIMES}
    told: dict[str, Any] = {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "input_file_id": batch.input_file,
        "completion_window": batch.window,
        "status": batch.status,
        "created_at": int(created_at),
        "expires_at": int(batch.expires_at),
        **{name: int(at) for name, at in times.items() if at is not None},
        "request_counts": {
            "total": batch.counts.total,
            "completed": batch.counts.completed,
            "failed": batch.counts.failed,
        },
        "metadata": batch.metadata,
        "heterodyne": {
            "expected_at": None if batch.expected_at is None else int(batch.expected_at),
            "is_late": batch.is_late,
        },
    }
    if batch.problems:
        told["errors"] = {"object": "list", "data": [msgspec.to_builtins(one) for one in batch.problems]}
    if batch.has_output:
        told["output_file_id"] = batch.output_file
    if batch.has_errors:
        told["error_file_id"] = batch.error_file
    if batch.tokens is not None:
        told["usage"] = {
            "input_tokens": batch.tokens.input,
            "input_tokens_details": {"cached_tokens": batch.tokens.cached},
            "output_tokens": batch.tokens.output,
            "output_tokens_details": {"reasoning_tokens": batch.tokens.reasoning},
            "total_tokens": batch.tokens.input + batch.tokens.output,
        }
    return told


TOLD_TIMES: Final = frozenset(BatchStatus) - {BatchStatus.VALIDATING}
