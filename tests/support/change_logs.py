"""A log of changes that is a list, and can be told to fail."""

from heterodyne.console.change_recorder import ASKED
from heterodyne.domain.audit import ChangeEntry
from heterodyne.domain.errors import StoreUnavailable


class ListedChanges:
    """Takes so many entries, then says that the disk is full; None: any number."""

    def __init__(self, room: int | None = None) -> None:
        self.entries: list[ChangeEntry] = []
        self.room = room

    def record(self, change: ChangeEntry) -> None:
        if self.room is not None and len(self.entries) >= self.room:
            raise StoreUnavailable("the disk is full")
        self.entries.append(change)

    def outcomes(self) -> list[tuple[str, str]]:
        """What was asked for, each with how it ended."""
        return [(entry.what, entry.outcome) for entry in self.entries if entry.outcome != ASKED]
