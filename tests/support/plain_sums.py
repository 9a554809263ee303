"""Records added up one by one, to compare with what is made of whole columns."""

from collections.abc import Iterable
from math import inf, log

from heterodyne.domain.history import Sums
from heterodyne.domain.minute_tally import MICRO, THOUSANDTHS, MinuteTally
from heterodyne.domain.outcome import is_fault
from heterodyne.domain.spread import SpreadTally
from heterodyne.domain.usage import UsageRecord


def sums_of(records: Iterable[UsageRecord]) -> Sums:
    """All of them together."""
    tally = MinuteTally()
    for one in records:
        add(tally, one)
    return tally.sums()


def add(tally: MinuteTally, record: UsageRecord) -> None:
    """One more request."""
    tally.requests += 1
    tally.errors += bool(record.reason)
    tally.refused += bool(record.reason and not record.pool)
    tally.faults += bool(record.reason and is_fault(record.status, record.reason))
    tally.promised += bool(record.promise)
    tally.kept += record.promise == "kept"
    tally.retried += record.retries > 0
    tally.hedged += record.is_hedged
    tally.prompt_tokens += record.prompt_tokens
    tally.cached_tokens += record.cached_tokens
    tally.completion_tokens += record.completion_tokens
    tally.usd_micro += record.usd_micro
    tally.replica_us += round(record.replica_s * MICRO)
    if record.ttft_ms is not None or not record.reason:
        tally.total.add(record.total_ms)
    for times, ms in ((tally.ttft, record.ttft_ms), (tally.itl, record.itl_ms), (tally.queue, record.queue_ms)):
        if ms is not None:
            times.add(ms)
    if not record.retries:
        add_error(tally.ttft_error, record.ttft_ms, record.predicted_ttft_ms)
        add_error(tally.itl_error, record.itl_ms, record.predicted_itl_ms)


def add_error(errors: SpreadTally, actual_ms: float | None, predicted_ms: float | None) -> None:
    """How far a prediction was off."""
    if actual_ms is not None and predicted_ms is not None and 0 < actual_ms < inf and 0 < predicted_ms < inf:
        errors.add(abs(log(actual_ms) - log(predicted_ms)) * THOUSANDTHS)
