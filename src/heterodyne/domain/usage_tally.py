"""Pure: one walk over records that are new makes every sum that is kept of them.

Days are for bills, and told apart by who asked. Cells are for charts: one for each minute in which requests were
complete, second in which they ended, and set of labels, so that minutes and seconds are both sums of a few cells.

Times are those of answered requests: the first token's and
the gaps' where they were streamed, the whole one's where anything came. Errors of predictions are
|ln(actual / predicted)| in thousandths, in the same buckets as milliseconds; a request that was tried again has none,
since its prediction was for another try.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from heterodyne.domain.history import MINUTE_S
from heterodyne.domain.minute_tally import COUNTS, MICRO, SPREADS, THOUSANDTHS, MinuteTally
from heterodyne.domain.outcome import is_fault
from heterodyne.domain.record_block import RecordBlock
from heterodyne.domain.spread import BUCKETS, ENDS_MS
from heterodyne.domain.usage import UsageRecord
from heterodyne.domain.usage_columns import Floats, Integers, Truths, UsageColumns

DAY_S = 86400
KEPT = "kept"  # what the promise of a record says

# The day, then organisation, project, key, model, pool, class, tier, hardware.
DayKey = tuple[str, str, str, str, str, str, str, str, str]
# The minute's beginning and the second of the end, since the epoch, then model, pool, hardware, tier, class.
CellKey = tuple[int, int, str, str, str, str, str]

_ENDS_MS = np.array(ENDS_MS)


class DayTally(NamedTuple):
    """What one key used in a day, on one kind of replica."""

    requests: int
    errors: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    usd_micro: int
    hosted_usd_micro: int
    replica_us: int
    saved_usd_micro: int


class UsageTally:
    """Records, and what they add up to."""

    __slots__ = ("cells", "days", "records")

    def __init__(self, records: Iterable[UsageRecord]) -> None:
        self.records = RecordBlock.of(records)
        self.days: dict[DayKey, DayTally] = {}
        self.cells: dict[CellKey, MinuteTally] = {}
        if self.records:
            self.days = _days(self.records.columns)
            self.cells = _cells(self.records.columns)


class _Parts:
    """Records that have the same keys, part by part."""

    def __init__(self, *keys: Integers) -> None:
        self._order = np.lexsort(keys)
        differs = np.zeros(len(self._order), bool)
        differs[0] = True
        for key in keys:
            ordered = key[self._order]
            differs[1:] |= ordered[1:] != ordered[:-1]
        self._starts = differs.nonzero()[0]
        self.firsts = self._order[self._starts]  # a record of each part
        self.part_of = np.empty(len(self._order), np.int64)
        self.part_of[self._order] = differs.cumsum() - 1

    def sums(self, columns: Sequence[Integers | Truths]) -> list[list[int]]:
        """Of each part those of every column."""
        table = np.stack(columns)[:, self._order]
        sums: list[list[int]] = np.add.reduceat(table, self._starts, axis=1).T.tolist()
        return sums


def _days(columns: UsageColumns) -> dict[DayKey, DayTally]:
    day = (columns.floats("at") // DAY_S).astype(np.int64)
    usd_micro = columns.integers("usd_micro")
    parts = _Parts(columns.who, day)
    sums = parts.sums(
        (
            np.ones(columns.count, np.int64),
            columns.truths("reason"),
            columns.integers("prompt_tokens"),
            columns.integers("cached_tokens"),
            columns.integers("completion_tokens"),
            columns.integers("reasoning_tokens"),
            usd_micro,
            usd_micro * columns.truths("is_hosted_price"),
            _replica_us(columns),
            columns.integers("saved_usd_micro"),
        )
    )
    days: dict[DayKey, DayTally] = {}
    for first, one in zip(parts.firsts.tolist(), sums, strict=True):
        organisation, project, key, model, pool, urgency, tier, hardware = columns.askers[columns.who[first]]
        name = datetime.fromtimestamp(int(day[first]) * DAY_S, UTC).strftime("%Y-%m-%d")
        days[name, organisation, project, key, model, pool, urgency, tier, hardware] = DayTally(*one)
    return days


def _cells(columns: UsageColumns) -> dict[CellKey, MinuteTally]:
    at, total_ms = columns.floats("at"), columns.floats("total_ms")
    minute = (at // MINUTE_S).astype(np.int64) * MINUTE_S
    second = (at + total_ms / 1000).astype(np.int64)
    known: dict[tuple[str, str, str, str, str], int] = {}
    of_askers = [
        known.setdefault((model, pool, hardware, tier, urgency), len(known))
        for _, _, _, model, pool, urgency, tier, hardware in columns.askers
    ]
    labels = list(known)
    label = np.array(of_askers, np.int64)[columns.who]
    parts = _Parts(label, minute, second)
    is_error, is_retried = columns.truths("reason"), columns.truths("retries")
    is_refused = is_error & ~columns.truths("pool") if is_error.any() else is_error
    sums = parts.sums(
        (
            np.ones(columns.count, np.int64),
            is_error,
            is_refused,
            columns.truths("promise"),
            columns.equal("promise", KEPT),
            is_retried,
            columns.truths("is_hedged"),
            columns.integers("prompt_tokens"),
            columns.integers("cached_tokens"),
            columns.integers("completion_tokens"),
            columns.integers("usd_micro"),
            _replica_us(columns),
            _faults(columns),
        )
    )
    cells = [_tally(one) for one in sums]
    for name, times_ms in _times(columns, total_ms, is_retried).items():
        _add_times(cells, name, parts.part_of, times_ms)
    return {
        (int(minute[first]), int(second[first]), *labels[label[first]]): cell
        for first, cell in zip(parts.firsts, cells, strict=True)
    }


def _replica_us(columns: UsageColumns) -> Integers:
    return np.rint(columns.floats("replica_s") * MICRO).astype(np.int64)


def _faults(columns: UsageColumns) -> Integers:
    faults = np.zeros(columns.count, np.int64)
    failed = columns.truths("reason").nonzero()[0].tolist()
    if failed:
        statuses, reasons = columns.values("status"), columns.values("reason")
        for place in failed:
            faults[place] = is_fault(statuses[place], reasons[place])
    return faults


def _tally(counts: list[int]) -> MinuteTally:
    """In the order of COUNTS."""
    tally = MinuteTally()
    for name, count in zip(COUNTS, counts, strict=True):
        setattr(tally, name, count)
    return tally


def _times(columns: UsageColumns, total_ms: Floats, is_retried: Truths) -> dict[str, Floats]:
    """Of every distribution what each record adds to it; no number: nothing."""
    ttft_ms, itl_ms = columns.floats("ttft_ms"), columns.floats("itl_ms")
    is_answered = ~np.isnan(ttft_ms) | ~columns.truths("reason")
    return dict(
        zip(
            SPREADS,
            (
                ttft_ms,
                itl_ms,
                np.where(is_answered, total_ms, np.nan),
                columns.floats("queue_ms"),
                _errors(ttft_ms, columns.floats("predicted_ttft_ms"), is_retried),
                _errors(itl_ms, columns.floats("predicted_itl_ms"), is_retried),
            ),
            strict=True,
        )
    )


def _errors(actual_ms: Floats, predicted_ms: Floats, is_retried: Truths) -> Floats:
    is_judged = ~is_retried & (actual_ms > 0) & np.isfinite(actual_ms) & (predicted_ms > 0) & np.isfinite(predicted_ms)
    errors = np.full(len(actual_ms), np.nan)
    errors[is_judged] = np.abs(np.log(actual_ms[is_judged]) - np.log(predicted_ms[is_judged])) * THOUSANDTHS
    return errors


def _add_times(cells: list[MinuteTally], name: str, cell_of: Integers, times_ms: Floats) -> None:
    is_there = ~np.isnan(times_ms)
    if not is_there.any():
        return
    of, ms = cell_of[is_there], np.maximum(times_ms[is_there], 0.0)
    codes, counts = np.unique(of * BUCKETS + np.searchsorted(_ENDS_MS, ms), return_counts=True)
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        getattr(cells[code // BUCKETS], name).counts[code % BUCKETS] = count
    for number, sum_ms in enumerate(np.bincount(of, ms, len(cells)).tolist()):
        getattr(cells[number], name).sum_ms = sum_ms
