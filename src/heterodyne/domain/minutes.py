"""Pure: adds records up by the minute and by what they have in common.

A record belongs to the minute in which its request was complete. Times are those of answered requests: the first
token's and the gaps' where they were streamed, the whole one's where anything came. Errors of predictions are
|ln(actual / predicted)| in thousandths, in the same buckets as milliseconds; a request that was tried again has none,
since its prediction was for another try.
"""

from collections.abc import Collection, Iterable
from math import inf, log
from typing import NamedTuple

from heterodyne.domain.history import MINUTE_S, Sums
from heterodyne.domain.outcome import is_fault
from heterodyne.domain.spread import SpreadTally
from heterodyne.domain.usage import UsageRecord

LABEL_SETS_MAX = 200  # in one minute
OTHER = "other"  # every label of what is beyond
KEPT = "kept"
MICRO = 1_000_000
THOUSANDTHS = 1000.0

COUNTS = (
    *("requests", "errors", "refused", "promised", "kept", "retried", "hedged"),
    *("prompt_tokens", "cached_tokens", "completion_tokens", "usd_micro", "replica_us", "faults"),
)
SPREADS = ("ttft", "itl", "total", "queue", "ttft_error", "itl_error")


class Labels(NamedTuple):
    """What requests of a minute are told apart by, in the order of HistoryGroup."""

    model: str
    pool: str
    hardware: str
    tier: str
    urgency: str


OTHERS = Labels(OTHER, OTHER, OTHER, OTHER, OTHER)


class MinuteKey(NamedTuple):
    """One minute of one set of labels."""

    minute: int  # its beginning, in seconds since the epoch
    labels: Labels


class MinuteTally:
    """Sums that grow; the fields are those of `Sums`."""

    __slots__ = (*COUNTS, *SPREADS)

    def __init__(self) -> None:
        self.requests = self.errors = self.refused = self.promised = self.kept = self.retried = self.hedged = 0
        self.prompt_tokens = self.cached_tokens = self.completion_tokens = self.usd_micro = self.replica_us = 0
        self.faults = 0
        self.ttft, self.itl, self.total = SpreadTally(), SpreadTally(), SpreadTally()
        self.queue, self.ttft_error, self.itl_error = SpreadTally(), SpreadTally(), SpreadTally()

    def add(self, record: UsageRecord) -> None:
        """One more request."""
        self.requests += 1
        if record.reason:
            self._add_error(record)
        if record.promise:
            self.promised += 1
            if record.promise == KEPT:
                self.kept += 1
        is_retried = record.retries > 0
        if is_retried:
            self.retried += 1
        if record.is_hedged:
            self.hedged += 1
        self.prompt_tokens += record.prompt_tokens
        self.cached_tokens += record.cached_tokens
        self.completion_tokens += record.completion_tokens
        self.usd_micro += record.usd_micro
        self.replica_us += round(record.replica_s * MICRO)
        ttft_ms, itl_ms = record.ttft_ms, record.itl_ms
        if ttft_ms is not None or not record.reason:
            self.total.add(record.total_ms)
        if ttft_ms is not None:
            self.ttft.add(ttft_ms)
            predicted_ms = record.predicted_ttft_ms
            if predicted_ms is not None and not is_retried and 0 < ttft_ms < inf and 0 < predicted_ms < inf:
                self.ttft_error.add(abs(log(ttft_ms) - log(predicted_ms)) * THOUSANDTHS)
        if itl_ms is not None:
            self.itl.add(itl_ms)
            predicted_ms = record.predicted_itl_ms
            if predicted_ms is not None and not is_retried and 0 < itl_ms < inf and 0 < predicted_ms < inf:
                self.itl_error.add(abs(log(itl_ms) - log(predicted_ms)) * THOUSANDTHS)
        if record.queue_ms is not None:
            self.queue.add(record.queue_ms)

    def _add_error(self, record: UsageRecord) -> None:
        self.errors += 1
        if not record.pool:
            self.refused += 1
        if is_fault(record.status, record.reason):
            self.faults += 1

    def merge(self, other: "MinuteTally | Sums") -> None:
        """Everything that another one has."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in SPREADS:
            getattr(self, name).merge(getattr(other, name))

    def sums(self) -> Sums:
        """As they are now."""
        return Sums(
            **{name: getattr(self, name) for name in COUNTS},
            **{name: getattr(self, name).distribution() for name in SPREADS},
        )


def tallies_of(records: Iterable[UsageRecord]) -> dict[MinuteKey, MinuteTally]:
    """One walk over the records, which are many."""
    tallies: dict[tuple[int, str, str, str, str, str], MinuteTally] = {}
    for record in records:
        key = int(record.at // MINUTE_S), record.model, record.pool, record.hardware, record.tier, record.urgency
        tally = tallies.get(key)
        if tally is None:
            tally = tallies[key] = MinuteTally()
        tally.add(record)
    return {MinuteKey(number * MINUTE_S, Labels(*labels)): tally for (number, *labels), tally in tallies.items()}


def sums_of(records: Iterable[UsageRecord]) -> Sums:
    """All of them together."""
    tally = MinuteTally()
    for record in records:
        tally.add(record)
    return tally.sums()


def merged_sums(many: Iterable[Sums]) -> Sums:
    """All of them as one."""
    tally = MinuteTally()
    for sums in many:
        tally.merge(sums)
    return tally.sums()


def bounded(tallies: dict[Labels, MinuteTally], known: Collection[Labels]) -> dict[Labels, MinuteTally]:
    """Of one minute: sets of labels beyond those that are kept become one; those that are `known` stay themselves."""
    left = LABEL_SETS_MAX - len(known)
    kept: dict[Labels, MinuteTally] = {}
    for labels, tally in tallies.items():
        if labels not in known and labels not in kept:
            if left <= 1 and labels != OTHERS:  # one place is for the others
                kept.setdefault(OTHERS, MinuteTally()).merge(tally)
                continue
            left -= 1
        if labels in kept:
            kept[labels].merge(tally)
        else:
            kept[labels] = tally
    return kept
