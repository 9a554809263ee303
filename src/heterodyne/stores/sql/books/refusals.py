"""Which requests of a span were refused, by project and reason; the same question for every database."""

from abc import ABC, abstractmethod
from typing import TypeVar

from heterodyne.domain.refusals import RefusalRow
from heterodyne.stores.sql.script import Script, Statement

ROWS_MAX = 500  # those with the most requests

T = TypeVar("T")


class SqlRefusals(ABC):
    """A part of `Books`: it reads single records, so a span is an hour, not a month."""

    async def refusals(self, since_at: float, until_at: float) -> tuple[RefusalRow, ...]:
        """The most frequent first; `until_at` itself is left out."""
        return await self._read(_refusals(since_at, until_at))

    @abstractmethod
    async def _read(self, script: Script[T]) -> T: ...


def _refusals(since_at: float, until_at: float) -> Script[tuple[RefusalRow, ...]]:
    """By the index over time; no replica was asked for what has none."""
    rows = yield Statement(
        "SELECT project, reason, COUNT(*) AS refused FROM usage "
        "WHERE at >= $1 AND at < $2 AND reason <> '' AND replica = '' "
        "GROUP BY project, reason ORDER BY refused DESC, project, reason LIMIT $3",
        (since_at, until_at, ROWS_MAX),
    )
    return tuple(RefusalRow(project=project, reason=reason, requests=count) for project, reason, count in rows)
