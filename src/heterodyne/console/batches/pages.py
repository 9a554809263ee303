"""Batches as an operator sees them: how far they are, and nothing of what they ask."""

from msgspec import Struct

from heterodyne.batches.batch import CANCELLABLE, Batch, BatchCounts, BatchStatus, BatchTokens
from heterodyne.batches.listing import ListedBatch


class BatchRow(Struct, frozen=True, kw_only=True):
    """One batch. Times are seconds since the epoch."""

    id: str
    project: str
    api: str  # in whose words it was sent: openai or anthropic
    endpoint: str
    status: BatchStatus
    is_held: bool  # a gateway works on it; else it waits for one
    can_be_cancelled: bool
    counts: BatchCounts  # of its requests
    unanswered: int  # requests that were given up
    created_at: float
    expires_at: float  # the end of its window
    expected_at: float | None  # when its last request will be answered; None: not known, or it is over
    is_late: bool  # that is after its window
    ended_at: float | None  # None: it is not over
    tokens: BatchTokens | None  # of all answers; None: it is not over, or has none
    problem: str | None  # the first that was found in its input; None: none


class BatchPage(Struct, frozen=True, kw_only=True):
    """Those of all projects."""

    open: tuple[BatchRow, ...]  # the oldest first
    ended: tuple[BatchRow, ...]  # the latest, the last one first
    is_cut: bool  # more are open than are shown


class CancelledBatch(Struct, frozen=True, kw_only=True):
    """One that is to be cancelled."""

    id: str
    project: str
    status: BatchStatus
    counts: BatchCounts


def cancelled_of(batch: Batch) -> CancelledBatch:
    """What is told of one."""
    return CancelledBatch(id=batch.id, project=batch.project, status=batch.status, counts=batch.counts)


def row_of(listed: ListedBatch) -> BatchRow:
    """What is told of one."""
    batch = listed.batch
    return BatchRow(
        id=batch.id,
        project=batch.project,
        api=batch.api,
        endpoint=batch.endpoint,
        status=batch.status,
        is_held=listed.is_held,
        can_be_cancelled=batch.status in CANCELLABLE,
        counts=batch.counts,
        unanswered=batch.unanswered,
        created_at=listed.created_at,
        expires_at=batch.expires_at,
        expected_at=batch.expected_at,
        is_late=batch.is_late,
        ended_at=batch.times.get(batch.status.value) if batch.status.is_end else None,
        tokens=batch.tokens,
        problem=batch.problems[0].message if batch.problems else None,
    )
