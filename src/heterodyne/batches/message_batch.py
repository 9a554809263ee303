"""Pure: a batch as Anthropic's clients know it."""

from datetime import UTC, datetime
from typing import Any, Final

from heterodyne.batches.batch import Batch, BatchStatus
from heterodyne.batches.result_words import CANCELLED, EXPIRED

MESSAGES: Final = "/v1/messages"
WHY_UNANSWERED: Final = {BatchStatus.CANCELLED: CANCELLED, BatchStatus.EXPIRED: EXPIRED}


def message_batch(batch: Batch, created_at: float) -> dict[str, Any]:
    """One of theirs has a single end, whatever came of its requests."""
    counts, status = batch.counts, batch.status
    done = counts.completed + counts.failed + batch.unanswered
    why = WHY_UNANSWERED.get(status)
    processing = "canceling" if status is BatchStatus.CANCELLING else "in_progress"
    ended_at = batch.times.get(status.value) if status.is_end else None
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if status.is_end else processing,
        "request_counts": {
            "processing": 0 if status.is_end else max(0, counts.total - done),
            "succeeded": counts.completed,
            "errored": counts.failed,
            "canceled": batch.unanswered if why == CANCELLED else 0,
            "expired": batch.unanswered if why == EXPIRED else 0,
        },
        "created_at": _when(created_at),
        "expires_at": _when(batch.expires_at),
        "ended_at": None if ended_at is None else _when(ended_at),
        "archived_at": None,
        "cancel_initiated_at": _try_when(batch.times.get(BatchStatus.CANCELLING.value)),
        "results_url": f"{MESSAGES}/batches/{batch.id}/results" if status.is_end else None,
    }


def _try_when(at: float | None) -> str | None:
    return None if at is None else _when(at)


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
