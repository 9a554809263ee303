"""What has just happened, in memory: the latest records, sums of the last minute, and half an hour by the minute.

The last minute is of requests that ENDED in it, whole seconds of the clock, so that it can be checked against their
records. It lies a little back, because a record takes a moment from its worker to the books; one that takes longer is
in the next pages that cover its second. Minutes are those of the history: by when a request was complete.
"""

from collections import deque
from itertools import chain, islice
from typing import Generic, TypeVar

from msgspec import Struct

from heterodyne.domain.history import MINUTE_S, History, HistoryGroup, Sums
from heterodyne.domain.minute_tally import COUNTS, SPREADS, MinuteTally
from heterodyne.domain.record_block import RecordBlock
from heterodyne.domain.spread import SpreadTally, percentile_ms
from heterodyne.domain.usage import UsageRecord
from heterodyne.domain.usage_tally import UsageTally

WINDOW_S = 60
SETTLE_S = 2  # how far back the window ends
SPARK_MINUTES = 30
RECORDS_MAX = 5000
POOLS_MAX = 1000  # that anything is kept of in one second or minute
SECONDS_MAX, MINUTES_MAX = 2 * WINDOW_S, SPARK_MINUTES + 2


class RecentWindow(Struct, frozen=True, kw_only=True):
    """The last minute."""

    until_at: int  # seconds since the epoch; left out itself
    whole: Sums  # also of requests that no pool had
    by_pool: dict[str, Sums]


class Spark(Struct, frozen=True, kw_only=True):
    """One pool, minute by minute, the latest last."""

    ttft_p50_ms: tuple[float | None, ...]
    tokens_per_s: tuple[float, ...]


class Sparks(Struct, frozen=True, kw_only=True):
    """All pools; those that are not there did nothing."""

    at: int  # of the first minute
    by_pool: dict[str, Spark]


class RecentActivity:
    """One per supervisor. Told of every batch of records that the books took."""

    def __init__(self) -> None:
        self.taken = 0  # records, since it began
        self._latest: deque[RecordBlock] = deque()  # so many of the latest that they hold RECORDS_MAX
        self._held = 0  # records in them
        self._seconds = _Cells(SECONDS_MAX, MinuteTally)
        self._minutes = _Cells(MINUTES_MAX, _SparkTally)
        self._whole = MinuteTally()  # of the window
        self._window: dict[str, MinuteTally] = {}  # the seconds from `since` to `until`, which move on second by second
        self._since = self._until = 0
        self._points: dict[int, dict[str, tuple[float | None, float]]] = {}  # of minutes, as far as they are made

    def on_added(self, tally: UsageTally) -> None:
        """The books have these, and had not before."""
        self.taken += len(tally.records)
        self._hold(tally.records)
        for (minute, ended, _, pool, *_), cell in tally.cells.items():
            self._seconds.at(ended, pool).merge(cell)
            if self._since <= ended < self._until:
                self._whole.merge(cell)
                self._window.setdefault(pool, MinuteTally()).merge(cell)
            self._minutes.at(minute, pool).merge(cell)
            self._forget_point(minute, pool)

    def seed(self, history: History) -> None:
        """Minutes by pool, from before this began."""
        for series in history.series:
            pool = series.group.get(HistoryGroup.POOL, "")
            for step in series.steps:
                self._minutes.at(step.at, pool).merge(step.sums)
                self._forget_point(step.at, pool)

    def window(self, now: float) -> RecentWindow:
        """What ended in the last minute."""
        until = int(now) - SETTLE_S
        self._move(until - WINDOW_S, until)
        by_pool = {pool: tally.sums() for pool, tally in self._window.items() if pool}
        return RecentWindow(until_at=until, whole=self._whole.sums(), by_pool=by_pool)

    def sparks(self, now: float) -> Sparks:
        """The last half hour, the minute that runs included."""
        last = int(now // MINUTE_S) * MINUTE_S
        minutes = range(last - (SPARK_MINUTES - 1) * MINUTE_S, last + MINUTE_S, MINUTE_S)
        self._minutes.forget_before(minutes[0])
        self._points = {minute: points for minute, points in self._points.items() if minute >= minutes[0]}
        pools = {pool for minute in minutes for pool in self._minutes.of(minute) if pool}
        by_pool = {}
        for pool in pools:
            points = [self._point(minute, pool, now) for minute in minutes]
            by_pool[pool] = Spark(
                ttft_p50_ms=tuple(ttft_ms for ttft_ms, _ in points),
                tokens_per_s=tuple(tokens_per_s for _, tokens_per_s in points),
            )
        return Sparks(at=minutes[0], by_pool=by_pool)

    def latest(self, since: int, most: int) -> list[UsageRecord]:
        """Of the records taken after the first `since`, the latest ones, the newest first."""
        newest = chain.from_iterable(map(reversed, reversed(self._latest)))
        return list(islice(newest, min(most, self.taken - since, RECORDS_MAX)))

    def _hold(self, block: RecordBlock) -> None:
        """They are decoded when a console asks for them."""
        self._latest.append(block.undecoded())
        self._held += len(block)
        while self._held - len(self._latest[0]) >= RECORDS_MAX:
            self._held -= len(self._latest.popleft())

    def _move(self, since: int, until: int) -> None:
        """Seconds come in at one end and leave at the other: adding up all of them every time would cost most of what
        a page may."""
        if not self._until <= until < self._until + WINDOW_S:
            self._whole, self._window, self._since, self._until = MinuteTally(), {}, since, since
        for second in range(self._until, until):
            for pool, tally in self._seconds.of(second).items():
                self._whole.merge(tally)
                self._window.setdefault(pool, MinuteTally()).merge(tally)
        for second in range(self._since, since):
            for pool, tally in self._seconds.of(second).items():
                _take_away(self._whole, tally)
                _take_away(self._window[pool], tally)
                if not self._window[pool].requests:
                    del self._window[pool]
        self._since, self._until = since, until
        self._seconds.forget_before(since)

    def _point(self, minute: int, pool: str, now: float) -> tuple[float | None, float]:
        points = self._points.setdefault(minute, {})
        if pool not in points:
            tally = self._minutes.of(minute).get(pool)
            if tally is None:
                return None, 0.0
            ttft_ms = percentile_ms(tally.ttft.distribution(), 0.5)
            # Of a minute that runs only the seconds that have been count; it is made anew every time.
            point = (ttft_ms, tally.tokens / min(MINUTE_S, max(1.0, now - minute)))
            if now - minute < MINUTE_S:
                return point
            points[pool] = point
        return points[pool]

    def _forget_point(self, minute: int, pool: str) -> None:
        if minute in self._points:
            self._points[minute].pop(pool, None)


class _SparkTally:
    """Of a pool's minute only what its sparks show: records are added whether a console is open or not."""

    __slots__ = ("tokens", "ttft")

    def __init__(self) -> None:
        self.tokens = 0
        self.ttft = SpreadTally()

    def merge(self, sums: MinuteTally | Sums) -> None:
        self.tokens += sums.prompt_tokens + sums.completion_tokens
        self.ttft.merge(sums.ttft)


Cell = TypeVar("Cell", MinuteTally, _SparkTally)


class _Cells(Generic[Cell]):
    """Sums by time and pool; of more times than that, the latest."""

    def __init__(self, times_max: int, kind: type[Cell]) -> None:
        self._times_max = times_max
        self._kind: type[Cell] = kind
        self._by_time: dict[int, dict[str, Cell]] = {}

    def at(self, time: int, pool: str) -> Cell:
        cells = self._by_time.get(time)
        if cells is None:
            cells = self._by_time[time] = {}
            if len(self._by_time) > self._times_max:
                del self._by_time[min(self._by_time)]
        tally = cells.get(pool)
        if tally is None:
            if len(cells) >= POOLS_MAX:
                pool = ""
            tally = cells.setdefault(pool, self._kind())
        return tally

    def of(self, time: int) -> dict[str, Cell]:
        return self._by_time.get(time, {})

    def forget_before(self, time: int) -> None:
        for old in [one for one in self._by_time if one < time]:
            del self._by_time[old]


def _take_away(whole: MinuteTally, part: MinuteTally) -> None:
    for name in COUNTS:
        setattr(whole, name, getattr(whole, name) - getattr(part, name))
    for name in SPREADS:
        left, gone = getattr(whole, name), getattr(part, name)
        for bucket, count in gone.counts.items():
            left.counts[bucket] -= count
            if not left.counts[bucket]:
                del left.counts[bucket]
        left.sum_ms = left.sum_ms - gone.sum_ms if left.counts else 0.0
