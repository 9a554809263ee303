"""The anchors of a log beside the log: each has to name an entry that is there, with the hash it had."""

from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

import msgspec

from heterodyne.audit.finding import Damage
from heterodyne.audit.key import AuditKey
from heterodyne.audit.line import AuditLine
from heterodyne.audit.walk import Walk
from heterodyne.domain.audit import Anchor
from heterodyne.domain.errors import AuditBroken

_anchors = msgspec.json.Decoder(Anchor)


class AnchorTrail:
    """Anchors in the order they were written, met one by one as the log is read."""

    def __init__(self, path: Path, key: AuditKey, walk: Walk) -> None:
        self.agreed = 0
        self._path = path
        self._walk = walk
        self._agreed_seq = 0
        try:
            # Those that are written while the log is read would name entries that the reader does not come to.
            self._source = _read(path, path.stat().st_size, key, walk)
            self._next = next(self._source, None)
        except OSError as error:
            raise AuditBroken(f"{path}: the anchors cannot be read: {error.strerror}") from error

    def meet(self, line: AuditLine) -> None:
        """Compare the anchors of this entry; those of entries that were passed by are no business of the trail."""
        while self._next is not None and self._next.seq <= line.seq:
            anchor = self._next
            if anchor.seq == line.seq:
                self._compare(anchor, line)
            self._next = next(self._source, None)

    def finish(self) -> None:
        """The log has ended; an anchor of anything after that says that it went on."""
        if self._next is None:
            return
        (last,) = deque(chain([self._next], self._source), maxlen=1)
        words = f"the log ends here, and {self._path} has an anchor of entry {last.seq}, {_time(last.at)}"
        self._walk.find_end(Damage.TRUNCATED, words)

    def _compare(self, anchor: Anchor, line: AuditLine) -> None:
        if anchor.hash == line.hash and anchor.log == self._walk.log:
            self.agreed += 1
            self._agreed_seq = line.seq
            return
        since = f"entry {self._agreed_seq + 1}" if self._agreed_seq else "the beginning"
        words = (
            f"another hash than the one anchored {_time(anchor.at)}: something from {since} to here was written anew"
        )
        self._walk.find(Damage.FORKED, line.seq, words)


def anchor_mac(key: AuditKey, anchor: Anchor) -> str:
    """What makes an anchor one of ours."""
    return key.mac("anchor", anchor.log, anchor.seq, anchor.hash, anchor.at)


def _read(path: Path, size: int, key: AuditKey, walk: Walk) -> Iterator[Anchor]:
    seq = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            size -= len(raw)
            if size < 0:
                return
            anchor = _try_anchor(key, raw)
            if anchor is None:
                walk.find(Damage.ANCHOR, seq, "no anchor made with the audit key", file=str(path), line=number)
            elif anchor.seq < seq:
                words = f"it stands after the anchor of entry {seq}"
                walk.find(Damage.ANCHOR, anchor.seq, words, file=str(path), line=number)
            else:
                seq = anchor.seq
                yield anchor


def _try_anchor(key: AuditKey, raw: bytes) -> Anchor | None:
    try:
        anchor = _anchors.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return anchor if anchor.mac == anchor_mac(key, anchor) else None


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
