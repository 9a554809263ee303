"""Which part of a list is asked for, from the query of a URL."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.nearest import unknown_name
from heterodyne.ports.tenants import PAGE_MAX

LIMIT_DEFAULT = 100


class HasId(Protocol):
    @property
    def id(self) -> str: ...


class PageQuery(Struct, frozen=True, kw_only=True):
    """A part of a list."""

    after: str = ""  # the id before the first one wanted
    limit: int = LIMIT_DEFAULT
    of: str | None = None  # only what belongs to this; None: all
    with_spent: bool = False  # keys that were revoked or have expired, too

    def next_after(self, rows: Sequence[HasId]) -> str | None:
        """Where the next part begins; None: this was the last."""
        return rows[-1].id if len(rows) == self.limit else None


def read_page(query: Mapping[str, str], *, of: str | None = None, may_be_spent: bool = False) -> PageQuery:
    """Raises for unknown parameters, so that a misspelt filter does not show everything."""
    words = ["after", "limit", *([of] if of else []), *(["with_spent"] if may_be_spent else [])]
    for word in query:
        if word not in words:
            raise InvalidField(str(unknown_name("query", word[:100], words)), param=word[:100])
    limit = query.get("limit", str(LIMIT_DEFAULT))
    if not limit.isascii() or not limit.isdigit() or len(limit) > 4 or not 1 <= int(limit) <= PAGE_MAX:
        raise InvalidField(f"limit: a whole number from 1 to {PAGE_MAX} is expected.", param="limit")
    with_spent = query.get("with_spent", "false")
    if with_spent not in ("true", "false"):
        raise InvalidField("with_spent: true or false is expected.", param="with_spent")
    return PageQuery(
        after=query.get("after", ""),
        limit=int(limit),
        of=query.get(of) if of else None,
        with_spent=with_spent == "true",
    )
