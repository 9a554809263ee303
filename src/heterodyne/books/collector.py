"""Moves what workers have spooled into the store, and recovers workers that died.

A segment is deleted once the store has all of it. Whatever happens in between is repeated, and a store takes a record
once. While the store is away segments stay where they are, up to the size at which workers refuse.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from heterodyne.books.clock_step import ClockStep
from heterodyne.books.encoding import countable_block
from heterodyne.books.recover import Answered, none_answered, recover_all
from heterodyne.books.segment import (
    DAMAGED,
    READY,
    SegmentTail,
    WrittenBatch,
    place_of,
    read_batches,
    segments,
    spool_bytes,
)
from heterodyne.books.settings import HISTORY_DAYS, SPOOL_BYTES_MAX
from heterodyne.domain.errors import HeterodyneError, StoreUnavailable
from heterodyne.domain.record_block import RecordBlock
from heterodyne.domain.usage_tally import UsageTally
from heterodyne.ports.books import BookStore
from heterodyne.telemetry import log

INTERVAL_S = 1.0
AWAY_INTERVAL_S = 5.0  # while the store does not answer
READ_BYTES = 1 << 20
LOUD_SHARE = 0.8  # of the spool's size, from which on every pass says so
RETENTION_INTERVAL_S = 600.0
FORGET_MAX = 5000  # records in one transaction, so that no reader waits long
HISTORY_ROWS_MAX = 500_000  # of minutes, each up to a kilobyte or so
DAY_S = 86400.0
SEGMENTS_DAYS = 7.0  # that the store knows how far a segment was read; its file lives for seconds

_log = log.get("books")


class CollectorState(Struct, frozen=True, kw_only=True):
    """For metrics, the operator's page and tests."""

    collected: int = 0  # records the store had not seen before
    repeated: int = 0  # records it had
    recovered: int = 0  # requests of workers that died
    damaged: int = 0  # segments with bytes that are no records; they are kept
    backlog_bytes: int = 0
    backlog_bytes_max: int = SPOOL_BYTES_MAX
    problem: str | None = None  # why nothing is collected now; None: it is

    @property
    def is_filling(self) -> bool:
        """Whether workers will soon refuse requests for lack of room to write them down."""
        return self.backlog_bytes >= LOUD_SHARE * self.backlog_bytes_max


def _ignore_added(_: UsageTally) -> None:
    pass


class Collector:
    """One per folder of spools. Belongs to one event loop; files are read in threads.

    `on_added` gets records that the store took, each once, and must not raise. What a store took without being
    able to answer so is left out: it is in the history, and only there.
    """

    def __init__(
        self,
        folder: Path,
        store: BookStore,
        *,
        retention_days: float | None = None,
        history_days: float = HISTORY_DAYS,
        history_rows_max: int = HISTORY_ROWS_MAX,
        on_added: Callable[[UsageTally], None] = _ignore_added,
        answered: Answered = none_answered,
        bytes_max: int = SPOOL_BYTES_MAX,
        interval_s: float = INTERVAL_S,
        away_interval_s: float = AWAY_INTERVAL_S,
        wall_clock: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._store = store
        self._retention_days = retention_days  # None: records are kept
        self._history_days, self._history_rows_max = history_days, history_rows_max
        self._on_added = on_added
        self._answered = answered
        self._interval_s, self._away_interval_s = interval_s, away_interval_s
        self._wall_clock = wall_clock
        self._ends: dict[str, int] = {}  # how far each segment that is there has been collected
        self._forgot_at = 0.0
        self._clock_step = ClockStep(clock)
        self.state = CollectorState(backlog_bytes_max=bytes_max)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.collect()
                await self._forget_old()
            except HeterodyneError as error:
                self._away(error)
            except Exception as error:  # noqa: BLE001  # the root of the task; what is on the disk stays there
                self._away(error)
                _log.error("collector_failed", exc_info=error)
            await asyncio.sleep(self._away_interval_s if self.state.problem is not None else self._interval_s)

    async def collect(self) -> None:
        """One pass over everything there is; raises StoreUnavailable where the store stopped answering.

        What cannot be recovered, on a disk that is full, holds up nothing: to collect the rest makes room.
        """
        # A folder that was removed is made again; one whose disk is not mounted, with its parents gone, is waited for.
        await asyncio.to_thread(self._folder.mkdir, mode=0o700, exist_ok=True)
        recovered, problem = await asyncio.to_thread(recover_all, self._folder, self._answered)
        self._note(recovered=self.state.recovered + sum(life.killed + life.finished for life in recovered))
        paths = await asyncio.to_thread(segments, self._folder)
        names = {path.stem for path in paths}
        self._ends = {name: end for name, end in self._ends.items() if name in names}
        try:
            for path in paths:
                await self._collect_segment(path)
        finally:
            self._note(backlog_bytes=await asyncio.to_thread(spool_bytes, self._folder))
            if self.state.is_filling:
                _log.error(
                    "spool_filling",
                    backlog_bytes=self.state.backlog_bytes,
                    backlog_bytes_max=self.state.backlog_bytes_max,
                    then="workers refuse requests",
                )
        if problem is not None:
            raise StoreUnavailable(f"{self._folder}: a worker that died cannot be recovered: {problem}") from problem
        if self.state.problem is not None:
            _log.info("store_answers_again", backlog_bytes=self.state.backlog_bytes)
            self._note(problem=None)

    async def _collect_segment(self, path: Path) -> None:
        tail = SegmentTail.MORE
        while tail is SegmentTail.MORE:
            try:
                batches, tail = await asyncio.to_thread(read_batches, path, self._ends.get(path.stem, 0), READ_BYTES)
            except FileNotFoundError:
                return  # renamed since it was listed; the next pass has it under its new name
            await self._add(path.stem, batches)
        if path.suffix == READY:
            await asyncio.to_thread(self._done, path, tail)

    async def _add(self, name: str, batches: list[WrittenBatch]) -> None:
        """In one transaction, which alone costs as much as thirty records."""
        if not batches:
            return
        records = countable_block(RecordBlock.joined([batch.records for batch in batches]))
        new = await self._store.add(records, place_of(name, self._ends.get(name, 0), batches[-1].end))
        self._ends[name] = batches[-1].end
        taken = len(new.records)
        self._note(collected=self.state.collected + taken, repeated=self.state.repeated + len(records) - taken)
        if taken:
            self._on_added(new)

    def _done(self, path: Path, tail: SegmentTail) -> None:
        """A batch that was cut short is in slots or in a later segment; one that is damaged may be nowhere else."""
        if tail is SegmentTail.DAMAGED:
            _log.error("segment_damaged", segment=path.name, good_bytes=self._ends.get(path.stem, 0))
            path.rename(path.with_suffix(DAMAGED))
            self._note(damaged=self.state.damaged + 1)
        else:
            path.unlink(missing_ok=True)

    async def _forget_old(self) -> None:
        """Only once everything was collected: an id that was forgotten would be taken for a new one."""
        now = self._wall_clock()
        if self._clock_step.is_unsteady(now) or 0 <= now - self._forgot_at < RETENTION_INTERVAL_S:
            return
        if self._retention_days is not None:
            while await self._store.forget(now - self._retention_days * DAY_S, FORGET_MAX) == FORGET_MAX:
                pass
        await self._store.forget_segments(now - SEGMENTS_DAYS * DAY_S)
        before_at = now - self._history_days * DAY_S
        while await self._store.forget_minutes(before_at, FORGET_MAX, self._history_rows_max) == FORGET_MAX:
            pass
        self._forgot_at = now

    def _away(self, error: Exception) -> None:
        if self.state.problem is None:
            _log.error("usage_not_collected", error=str(error), backlog_bytes=self.state.backlog_bytes)
        self._note(problem=str(error) or type(error).__name__)

    def _note(self, **changes: int | str | None) -> None:
        self.state = replace(self.state, **changes)
