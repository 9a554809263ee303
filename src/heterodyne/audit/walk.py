"""Follows the chain line by line and says what is wrong where.

A line that was written with the key is an anchor of sense: between two such lines, their numbers and hashes show
whether what lies between was altered, put in or taken out. So lines that are not authentic are counted until the
next authentic one, and judged then.
"""

from collections.abc import Callable

from heterodyne.audit.finding import FINDINGS_MAX, AuditFinding, Damage
from heterodyne.audit.head import Head
from heterodyne.audit.key import AuditKey
from heterodyne.audit.line import FIRST_PREVIOUS, AuditLine, try_read_line
from heterodyne.domain.audit import StartEntry


class Walk:
    """Where a reader of the log has come to."""

    def __init__(
        self, key: AuditKey, *, is_from_the_first: bool, on_line: Callable[[AuditLine], None] | None = None
    ) -> None:
        self.log = ""
        self.entries = 0
        self.seq = 0  # of the last authentic line, in order
        self.hash = FIRST_PREVIOUS
        self.findings: list[AuditFinding] = []
        self.findings_total = 0
        self.unacknowledged = 0  # of them, those after an operator last let the log go on
        self._key = key
        self._on_line = on_line
        self._joins_midway = not is_from_the_first
        self._file = ""
        self._segment = 0
        self._number = 0
        self._strange = 0  # lines since the last authentic one that are not
        self._strange_file = ""
        self._strange_number = 0

    def open_segment(self, name: str, segment: int) -> None:
        """The lines that follow are this file's."""
        self._file, self._segment, self._number = name, segment, 0

    def read(self, raw: bytes) -> None:
        """One line, with its newline."""
        self._number += 1
        line = try_read_line(self._key, raw)
        if line is None:
            if not self._strange:
                self._strange_file, self._strange_number = self._file, self._number
            self._strange += 1
            return
        if self._joins_midway:
            self._joins_midway = False
            self.seq, self.hash = line.seq - 1 - self._strange, line.previous
        if self._number == 1:
            self._read_first(line)
        if line.seq == self.seq + 1 and line.previous == self.hash and not self._strange:
            self._accept(line)
        else:
            self._judge(line)

    def finish(self, head: Head | None) -> None:
        """Nothing follows; `head` is how far the log should have gone."""
        if self._strange:
            owed = max(0, head.seq - self.seq) if head else 0
            damage = Damage.ALTERED if owed else Damage.INSERTED
            self._find_strange(damage, f"{_lines(self._strange)} at the end not written with the audit key")
            self.seq += min(owed, self._strange)  # they are there, in a fashion; what is missing begins after them
            self._strange = 0
        if head and head.seq > self.seq:
            words = f"the log ends here, and went on to entry {head.seq} in segment {head.segment}"
            self.find_end(Damage.TRUNCATED, words)

    def find_end(self, damage: Damage, words: str) -> None:
        """Note that something should have followed the last line."""
        self.find(damage, self.seq + 1, words, line=self._number + 1)

    def find(self, damage: Damage, seq: int, words: str, *, file: str = "", line: int = 0) -> None:
        """Note what is wrong, here unless a place is given."""
        self.findings_total += 1
        self.unacknowledged += 1
        if len(self.findings) < FINDINGS_MAX:
            place = (file or self._file, line or self._number)
            self.findings.append(AuditFinding(damage=damage, file=place[0], line=place[1], seq=seq, words=words))

    def _accept(self, line: AuditLine) -> None:
        self.seq, self.hash = line.seq, line.hash
        self.entries += 1
        if self._on_line is not None:
            self._on_line(line)

    def _read_first(self, line: AuditLine) -> None:
        start = line.try_start()
        if start is None:
            return  # the line before it is missing, which its number will show
        self.log = self.log or start.log
        if start.segment != self._segment:
            self.find(Damage.MOVED, line.seq, f"this file holds segment {start.segment}")
        elif start.after_break:
            self._take_up(line, start)

    def _take_up(self, line: AuditLine, start: StartEntry) -> None:
        """An operator let the log go on; what was wrong before it stays wrong, and what follows has a beginning."""
        if self._strange:
            self._find_strange(Damage.ALTERED, f"{_lines(self._strange)} not written with the audit key")
            self._strange = 0
        if line.seq != self.seq + 1 or line.previous != self.hash:
            self.find(
                Damage.MISSING,
                self.seq + 1,
                f"the chain breaks after entry {self.seq} and was taken up again with entry {line.seq}; what was found "
                f"then: {start.after_break}",
            )
        self.seq, self.hash = line.seq - 1, line.previous
        self.unacknowledged = 0

    def _judge(self, line: AuditLine) -> None:
        if line.seq <= self.seq:
            self.find(Damage.MOVED, line.seq, f"it stands after entry {self.seq}: moved here, or put in again")
            return
        absent = line.seq - self.seq - 1
        if self._strange:
            self._judge_strange(line, absent)
        elif absent:
            self.find(
                Damage.MISSING, self.seq + 1, f"{_entries(self.seq + 1, line.seq - 1)} not before entry {line.seq}"
            )
        else:
            self._find_fork(line)
        self._accept(line)

    def _judge_strange(self, line: AuditLine, absent: int) -> None:
        lines = f"{_lines(self._strange)} not written with the audit key"
        if not absent:
            self._find_strange(Damage.INSERTED, f"{lines}, between entries {self.seq} and {line.seq}")
            if line.previous != self.hash:
                self._find_fork(line)
        elif absent <= self._strange:
            more = f", in the place of {absent}" if absent < self._strange else ""
            self._find_strange(Damage.ALTERED, f"{lines}{more}")
        else:
            gone = absent - self._strange
            self._find_strange(Damage.ALTERED, f"{lines}; {gone} more before entry {line.seq} not there at all")
        self._strange = 0

    def _find_fork(self, line: AuditLine) -> None:
        self.find(Damage.FORKED, line.seq, f"it follows another entry {self.seq} than the one before it")

    def _find_strange(self, damage: Damage, words: str) -> None:
        self.find(damage, self.seq + 1, words, file=self._strange_file, line=self._strange_number)


def _lines(count: int) -> str:
    return "a line" if count == 1 else f"{count} lines"


def _entries(first: int, last: int) -> str:
    return "it is" if first == last else f"entries {first} to {last} are"
