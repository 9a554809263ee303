"""Writes usage records to the disk in batches, off the request's path, and frees their slots afterwards.

A record waits in memory and in its slot; a thread writes what waits four times a second. A disk that is full, gone or
over the declared size keeps the slots taken, and the records are tried again; nothing with a token in it is dropped.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from heterodyne.books.encoding import BATCH_MAX, Ending, encode_batch, encode_finished, encode_opening
from heterodyne.books.flight_slots import FlightSlot, FlightSlots
from heterodyne.books.segment import SegmentWriter, segment_path, spool_bytes
from heterodyne.books.settings import SPOOL_BYTES_MAX
from heterodyne.domain.usage import UsageOpening
from heterodyne.telemetry import log
from heterodyne.telemetry.trouble import Trouble

FLUSH_INTERVAL_S = 0.25
SEGMENT_BYTES_MAX = 4 << 20
SEGMENT_AGE_MAX_S = 10.0
LOOSE_MAX = 8192  # records without a slot that wait
CLOSE_TIMEOUT_S = 5.0

# Its slot, the whole record, and how much of that is the opening.
_Unwritten = tuple[FlightSlot | None, bytes, int]

_log = log.get("books")


class UsageSpoolState(Struct, frozen=True, kw_only=True):
    """For metrics and tests."""

    waiting: int  # records that are not on the disk
    slots_taken: int
    slots_max: int
    written: int  # records
    failures: int  # batches that the disk did not take
    dropped: int  # records that cost nothing: of refusals, and of answers from the cache
    problem: str | None  # why the disk takes nothing now; None: it does


class UsageSpool:
    """One per worker life. `finish` and `add` belong to the event loop, `flush` to one thread."""

    def __init__(
        self,
        folder: Path,
        worker: str,
        life: str,
        slots: FlightSlots,
        *,
        bytes_max: int = SPOOL_BYTES_MAX,
        segment_bytes_max: int = SEGMENT_BYTES_MAX,
        flush_interval_s: float = FLUSH_INTERVAL_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        assert "." not in worker + life, "names of files are taken apart at their dots"
        self._folder, self._worker, self._life = folder, worker, life
        self._slots = slots
        self._bytes_max = bytes_max
        self._segment_bytes_max = segment_bytes_max
        self._flush_interval_s = flush_interval_s
        self._clock = clock
        self._queue: deque[_Unwritten] = deque()
        self._dropped = self._dropped_reported = 0
        self._held: list[_Unwritten] = []  # out of the queue, and not on the disk
        self._segment: SegmentWriter | None = None
        self._segment_until_s = 0.0
        self._segments = 0
        self._written = self._failures = 0
        self._problem: str | None = None
        self._slots_trouble = Trouble(_log, "no_slots_for_usage", worker=worker, then="requests are refused")
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Flush from now on, in a thread of its own. Where the disk has no room for slots they come when it has."""
        self._open_slots()
        self._thread = threading.Thread(target=self._run, name="books", daemon=True)
        self._thread.start()

    def finish(self, slot: FlightSlot, ending: Ending) -> None:
        """A request has ended. Never blocks; as many wait as there are slots. The slot is not the caller's any more."""
        self._queue.append((slot, slot.finish(ending), slot.opening_bytes))

    def add(self, opening: UsageOpening, ending: Ending) -> None:
        """A request that cost nothing and had no slot. Never blocks; when too many wait it is only counted."""
        if len(self._queue) >= LOOSE_MAX + self._slots.slots_max:
            self._dropped += 1
            return
        encoded = encode_opening(opening)
        self._queue.append((None, encode_finished(encoded, ending), len(encoded)))

    def state(self) -> UsageSpoolState:
        """How it stands."""
        return UsageSpoolState(
            waiting=len(self._queue) + len(self._held),
            slots_taken=self._slots.taken,
            slots_max=self._slots.slots_max,
            written=self._written,
            failures=self._failures,
            dropped=self._dropped,
            problem=self._problem,
        )

    def close(self) -> None:
        """Write what waits and hand over the last segment. What the disk does not take stays in the slots."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(CLOSE_TIMEOUT_S)
            if self._thread.is_alive():
                return  # a disk that hangs: the slots are left for recovery
        self.flush()
        try:
            self._end_segment()
        except OSError as error:
            _log.error("segment_not_closed", worker=self._worker, error=str(error))
        self._slots.close()

    def flush(self) -> None:
        """Everything that waits, onto the disk; later when it cannot be."""
        queue, held = self._queue, self._held
        held.extend(queue.popleft() for _ in range(min(len(queue), self._slots.slots_max + LOOSE_MAX - len(held))))
        try:
            while held:
                self._write_batch()
                self._end_segment_if_due()
            self._end_segment_if_due()
        except OSError as error:
            self._failed(error)
        else:
            self._worked()
        if self._dropped > self._dropped_reported:
            _log.error("free_records_not_written", worker=self._worker, records=self._dropped - self._dropped_reported)
            self._dropped_reported = self._dropped

    def _run(self) -> None:
        while not self._closing.wait(self._flush_interval_s):
            try:
                if self._slots.problem is not None:
                    self._open_slots()
                self.flush()
            except Exception as error:  # noqa: BLE001  # the root of the thread; slots stay taken, and it is tried again
                _log.error("spool_failed", worker=self._worker, exc_info=error)

    def _open_slots(self) -> None:
        try:
            self._slots.open_file()
        except OSError as error:
            self._slots_trouble.failed(error)
        else:
            self._slots_trouble.worked()

    def _write_batch(self) -> None:
        batch = self._held[:BATCH_MAX]
        segment = self._segment or self._begin_segment()
        segment.append(encode_batch([(record, opening_bytes) for _, record, opening_bytes in batch]))
        del self._held[:BATCH_MAX]
        self._written += len(batch)
        self._slots.free(*[slot for slot, _, _ in batch if slot is not None])

    def _end_segment_if_due(self) -> None:
        segment = self._segment
        if segment is not None and (
            segment.size_bytes >= self._segment_bytes_max or self._clock() >= self._segment_until_s
        ):
            self._end_segment()

    def _begin_segment(self) -> SegmentWriter:
        taken_bytes = spool_bytes(self._folder)
        if taken_bytes >= self._bytes_max:
            raise OSError(
                f"{self._folder} holds {taken_bytes} bytes of usage that no store has taken; it may hold no more"
            )
        self._segments += 1
        may_repeat = self._problem is not None  # of what the disk did not take, some may be there all the same
        path = segment_path(self._folder, self._worker, self._life, self._segments, may_repeat=may_repeat)
        self._segment = SegmentWriter(path)
        self._segment_until_s = self._clock() + SEGMENT_AGE_MAX_S
        return self._segment

    def _end_segment(self) -> None:
        segment, self._segment = self._segment, None
        if segment is not None:
            segment.close()

    def _failed(self, error: OSError) -> None:
        """The segment may be out of order from here on, so the next attempt begins another."""
        self._failures += 1
        if self._problem is None:
            _log.error("usage_not_written", worker=self._worker, error=str(error), waiting=len(self._held))
        self._problem = str(error)
        try:
            self._end_segment()
        except OSError as second:
            _log.error("segment_not_closed", worker=self._worker, error=str(second))

    def _worked(self) -> None:
        if self._problem is not None:
            _log.info("usage_written_again", worker=self._worker)
            self._problem = None
