"""Finds entries in the log: by request, by project, by time, or only the changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from heterodyne.audit.finding import VerificationReport
from heterodyne.audit.key import AuditKey
from heterodyne.audit.line import AuditLine
from heterodyne.audit.verify import verify
from heterodyne.domain.audit import AuditEntry, ChangeEntry, RequestEntry


class AuditQuery(Struct, frozen=True, kw_only=True):
    """Which entries; None: any."""

    request: str | None = None
    project: str | None = None
    since: float | None = None  # seconds since the epoch
    until: float | None = None
    only_changes: bool = False


class FoundEntry(Struct, frozen=True, kw_only=True):
    """One entry, with its place in the log."""

    seq: int
    at: float  # when it was added
    entry: AuditEntry
    hash: str


def search(
    folder: Path, key: AuditKey, wanted: AuditQuery, on_found: Callable[[FoundEntry], None]
) -> VerificationReport:
    """Every entry that is wanted, in order; and whether the log it was read from is as it was written."""

    def see(line: AuditLine) -> None:
        # An entry is added after what it records happened, so its line bounds what has to be looked into.
        if wanted.since is not None and line.at < wanted.since:
            return
        try:
            entry = line.decoded()
        except msgspec.MsgspecError:
            return  # a kind that a newer version writes; its line was verified all the same
        if _is_wanted(entry, line.at, wanted):
            on_found(FoundEntry(seq=line.seq, at=line.at, entry=entry, hash=line.hash))

    return verify(folder, key, on_line=see)


def flat(found: FoundEntry) -> dict[str, Any]:
    """One row of a table: the fields of the entry beside its place."""
    return {"seq": found.seq, "added_at": found.at, "hash": found.hash, **msgspec.to_builtins(found.entry)}


def _is_wanted(entry: AuditEntry, added_at: float, wanted: AuditQuery) -> bool:
    at = entry.at if isinstance(entry, RequestEntry | ChangeEntry) else added_at
    if (wanted.since is not None and at < wanted.since) or (wanted.until is not None and at >= wanted.until):
        return False
    if wanted.only_changes and not isinstance(entry, ChangeEntry):
        return False
    if wanted.request is not None and not (isinstance(entry, RequestEntry) and entry.id == wanted.request):
        return False
    return wanted.project is None or (isinstance(entry, RequestEntry) and entry.project == wanted.project)
