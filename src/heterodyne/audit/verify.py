"""Reads a log from end to end, in constant memory, and says whether it is as it was written."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from heterodyne.audit.anchor_trail import AnchorTrail
from heterodyne.audit.finding import Damage, VerificationReport
from heterodyne.audit.head import HEAD_NAME, Head, HeadInvalid, try_read_head
from heterodyne.audit.key import AuditKey
from heterodyne.audit.line import AuditLine
from heterodyne.audit.segments import AuditSegment, list_segments, read_lines, segment_path
from heterodyne.audit.walk import Walk
from heterodyne.domain.errors import AuditBroken

SeeLine = Callable[[AuditLine], None]
SeeProgress = Callable[[int], None]  # bytes read since the last call


def verify(
    folder: Path,
    key: AuditKey,
    *,
    anchors: Path | None = None,
    from_segment: int | None = None,
    on_line: SeeLine | None = None,
    on_progress: SeeProgress | None = None,
) -> VerificationReport:
    """What is wrong with a log, and where; `from_segment` takes those before it on trust.

    The log may be written to meanwhile. So anchors are read first, then the head, then the segments: each can only
    be behind what is read after it.
    """
    reading = _Reading(on_line)
    walk = Walk(key, is_from_the_first=from_segment in (None, 1), on_line=reading.see)
    walk.open_segment(segment_path(folder, from_segment or 1).name, from_segment or 1)
    with _readable(folder if anchors is None else anchors):
        reading.trail = None if anchors is None else AnchorTrail(anchors, key, walk)
    with _readable(folder):
        reading.take_head(folder, key, walk)
        segments = [one for one in list_segments(folder) if one.number >= (from_segment or 1)]
    unfinished_bytes = 0
    for segment in segments:
        unfinished_bytes = _read_segment(walk, segment, segment is segments[-1], on_progress)
    walk.finish(reading.head)
    if reading.trail is not None:
        reading.trail.finish()
    if reading.head is None and (walk.seq or reading.head_problem):
        words = reading.head_problem or "there is none, so nothing says how far the log went"
        walk.find(Damage.HEAD, walk.seq, words, file=HEAD_NAME, line=1)
    return VerificationReport(
        log=walk.log,
        entries=walk.entries,
        segments=len(segments),
        last_seq=walk.seq,
        last_hash=walk.hash,
        unfinished_bytes=unfinished_bytes,
        after_head=max(0, walk.seq - reading.head.seq) if reading.head else 0,
        anchors=reading.trail.agreed if reading.trail else 0,
        findings=tuple(walk.findings),
        findings_total=walk.findings_total,
        unacknowledged=walk.unacknowledged,
    )


class _Reading:
    """What each line is held against beside the chain itself."""

    def __init__(self, on_line: SeeLine | None) -> None:
        self.head: Head | None = None
        self.trail: AnchorTrail | None = None
        self.head_problem = ""
        self._walk: Walk | None = None
        self._on_line = on_line

    def take_head(self, folder: Path, key: AuditKey, walk: Walk) -> None:
        self._walk = walk
        try:
            self.head = try_read_head(folder, key)
        except HeadInvalid as error:
            self.head_problem = str(error)

    def see(self, line: AuditLine) -> None:
        if self.head is not None and line.seq == self.head.seq and line.hash != self.head.hash and self._walk:
            self._walk.find(Damage.FORKED, line.seq, "another hash than the one that the head names")
        if self.trail is not None:
            self.trail.meet(line)
        if self._on_line is not None:
            self._on_line(line)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Around what reads the log, and nothing else: a listener that cannot write is no fault of the log."""
    try:
        yield
    except OSError as error:
        raise AuditBroken(f"{error.filename or path}: cannot be read: {error.strerror}") from error


def _lines(path: Path) -> Iterator[bytes]:
    with _readable(path):
        yield from read_lines(path)  # what the taker of a line raises does not come by here


def _read_segment(walk: Walk, segment: AuditSegment, is_last: bool, on_progress: SeeProgress | None) -> int:
    """The bytes at the end that are no line yet; only the last segment may have any."""
    walk.open_segment(segment.name, segment.number)
    unseen_bytes = 0
    for raw in _lines(segment.path):
        if is_last and raw[-1:] != b"\n":
            return len(raw)
        walk.read(raw)
        unseen_bytes += len(raw)
        if on_progress is not None and unseen_bytes >= 1 << 20:
            on_progress(unseen_bytes)
            unseen_bytes = 0
    if on_progress is not None:
        on_progress(unseen_bytes)
    return 0
