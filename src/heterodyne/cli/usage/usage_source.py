"""Where `heterodyne usage` reads: the admin API of a running gateway, or the database itself."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import urlencode

from heterodyne.cli.admin_client import AdminClient
from heterodyne.cli.admin_or_store import AdminOrStore
from heterodyne.console.usage.pages import IdlePage, RequestRows, UsagePage
from heterodyne.console.usage.service import idle_page, request_rows, usage_page
from heterodyne.domain.errors import StoreInvalid
from heterodyne.domain.usage import RequestQuery, UsageGroup, UsageQuery
from heterodyne.ports.books import BookStore
from heterodyne.stores.open_store import books_in, open_database, sqlite_path

T = TypeVar("T")


class UsageSource(Protocol):
    """Answers a terminal's questions."""

    def usage(self, query: UsageQuery) -> UsagePage: ...

    def requests(self, query: RequestQuery) -> RequestRows: ...

    def idle(self, since: str | None, until: str | None) -> IdlePage: ...


class AdminUsage(AdminClient):
    """Over HTTP."""

    def usage(self, query: UsageQuery) -> UsagePage:
        params = {"by": ",".join(query.by), "since": query.since, "until": query.until}
        return self.call("GET", f"/admin/usage?{_query(params, query.where)}", None, UsagePage)

    def requests(self, query: RequestQuery) -> RequestRows:
        params = {
            "since_at": query.since_at,
            "until_at": query.until_at,
            "limit": query.limit,
            "after": query.after,
        }
        return self.call("GET", f"/admin/usage/requests?{_query(params, query.where)}", None, RequestRows)

    def idle(self, since: str | None, until: str | None) -> IdlePage:
        return self.call("GET", f"/admin/usage/idle?{_query({'since': since, 'until': until}, {})}", None, IdlePage)


class StoreUsage:
    """From the database, also when no gateway runs."""

    def __init__(self, url: str) -> None:
        self._url = url

    def usage(self, query: UsageQuery) -> UsagePage:
        return self._run(lambda books: usage_page(books, query))

    def requests(self, query: RequestQuery) -> RequestRows:
        return self._run(lambda books: request_rows(books, query))

    def idle(self, since: str | None, until: str | None) -> IdlePage:
        return self._run(lambda books: idle_page(books, since, until))

    def _run(self, read: Callable[[BookStore], Awaitable[T]]) -> T:
        async def answer() -> T:
            async with _opened(self._url) as books:
                return await read(books)

        return asyncio.run(answer())


class EitherUsage:
    """Over HTTP; where no gateway listens, from the database."""

    def __init__(self, admin: AdminUsage, store: Callable[[], StoreUsage]) -> None:
        self._sources: AdminOrStore[UsageSource] = AdminOrStore(
            admin, store, instead=f"no gateway listens at {admin.url}: reading the store itself"
        )

    def usage(self, query: UsageQuery) -> UsagePage:
        return self._sources.call(lambda source: source.usage(query))

    def requests(self, query: RequestQuery) -> RequestRows:
        return self._sources.call(lambda source: source.requests(query))

    def idle(self, since: str | None, until: str | None) -> IdlePage:
        return self._sources.call(lambda source: source.idle(since, until))


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[BookStore]:
    if url.startswith("sqlite:"):
        _check_there(sqlite_path(url, os.environ))
    database = await open_database(url, os.environ)
    try:
        yield books_in(database)
    finally:
        await database.close()


def _check_there(path: Path) -> None:
    """Opening would make an empty one, and show no usage."""
    if not path.is_file():
        raise StoreInvalid(f"there is no database {path}; --store names another, --url asks a running gateway")


def _query(params: Mapping[str, object], where: Mapping[UsageGroup, str]) -> str:
    given = {name: value for name, value in params.items() if value not in (None, "")}
    return urlencode({**given, **{group.value: value for group, value in where.items()}})
