"""What keeps the sums of requests over time."""

from typing import Protocol

from heterodyne.domain.history import History, HistoryQuery


class HistoryService(Protocol):
    """The store of the books."""

    async def history(self, query: HistoryQuery) -> History: ...
