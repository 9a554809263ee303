"""Entries of the audit log as rows for people and for tables."""

import csv
from collections.abc import Callable
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING

from heterodyne.domain.audit import ChangeEntry, GapEntry, RecoveredEntry, RequestEntry, StartEntry
from heterodyne.domain.counted import counted

if TYPE_CHECKING:
    from heterodyne.audit.search import FoundEntry

HEADER = ("ENTRY", "TIME", "WHO", "WHAT", "OF", "RESULT")
_KINDS = (RequestEntry, ChangeEntry, StartEntry, RecoveredEntry, GapEntry)
_FIELDS = dict.fromkeys(name for kind in _KINDS for name in kind.__struct_fields__ if name != "spools")
CSV_COLUMNS = ("seq", "added_at", "type", *_FIELDS, "hash")


def row(found: "FoundEntry") -> tuple[str, ...]:
    """Who did what, of which model or thing, and how it ended."""
    entry = found.entry
    at = entry.at if isinstance(entry, RequestEntry | ChangeEntry) else found.at
    return (str(found.seq), datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S"), *_cells(entry))


def write_csv(output: IO[str]) -> Callable[["FoundEntry"], None]:
    """Writes a header now, and a row for each entry that it is given."""
    from heterodyne.audit.search import flat

    table = csv.DictWriter(output, CSV_COLUMNS, restval="", extrasaction="ignore")
    table.writeheader()

    def write(found: "FoundEntry") -> None:
        table.writerow({name: _safe(value) for name, value in flat(found).items()})

    return write


def _cells(entry: object) -> tuple[str, str, str, str]:
    match entry:
        case RequestEntry():
            who = " ".join(filter(None, (entry.project, entry.key)))
            model = entry.model or entry.asked_model
            of = f"{model} {entry.version}".strip()
            return who, f"{entry.operation} {entry.id}", of, " ".join(filter(None, (str(entry.status), entry.reason)))
        case ChangeEntry():
            return entry.who, entry.what, entry.subject, entry.outcome or "done"
        case StartEntry():
            return (
                "",
                f"segment {entry.segment} begins",
                "",
                entry.after_break and f"after a break: {entry.after_break}",
            )
        case RecoveredEntry():
            return "", "recovered", entry.file, f"{counted(entry.cut_bytes, 'byte')} of an unfinished write cut off"
        case GapEntry():
            return entry.worker, "gap", "", f"{counted(entry.requests, 'request')} without an entry"
    return "", type(entry).__name__, "", ""


def _safe(value: object) -> object:
    """A spreadsheet would run what begins like a formula; clients choose some of these words."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
