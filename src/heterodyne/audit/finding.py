"""What a verification says: each place where the log is not as it was written, and what was read in all."""

from enum import StrEnum

from msgspec import Struct

FINDINGS_MAX = 100  # that are shown in words; all are counted


class Damage(StrEnum):
    """Kinds of what can be wrong."""

    ALTERED = "altered"
    INSERTED = "inserted"
    MISSING = "missing"
    MOVED = "moved"  # an entry, or a copy of one, that belongs elsewhere
    FORKED = "forked"  # written with the key, and not what follows here or what was anchored
    TRUNCATED = "truncated"
    HEAD = "head"
    ANCHOR = "anchor"


class AuditFinding(Struct, frozen=True, kw_only=True):
    """One place where something is wrong."""

    damage: Damage
    file: str
    line: int  # from 1; one more than the last for what is missing at the end
    seq: int  # the first entry concerned
    words: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: entry {self.seq} {self.damage}: {self.words}"


class VerificationReport(Struct, frozen=True, kw_only=True):
    """What was read, and what was wrong with it."""

    log: str
    entries: int  # that are as they were written
    segments: int
    last_seq: int
    last_hash: str
    unfinished_bytes: int = 0  # at the very end, of a write under way or cut short by a crash
    after_head: int = 0  # entries after the one that the head names
    anchors: int = 0  # that the log agrees with
    findings: tuple[AuditFinding, ...] = ()  # the first of them
    findings_total: int = 0
    unacknowledged: int = 0  # of them, those after an operator last let the log go on

    @property
    def is_intact(self) -> bool:
        return not self.findings_total
