"""Makes the pages about usage of the books; the admin API and the command line ask the same functions."""

from typing import Protocol

from heterodyne.books.cost import pool_cost
from heterodyne.books.export import record_fields
from heterodyne.console.usage.pages import IdlePage, IdlePool, RequestRows, UsagePage
from heterodyne.domain.usage import IdleRow, RequestPage, RequestQuery, UsageQuery, UsageRow, check_day


class UsageService(Protocol):
    """The store of the books."""

    async def usage(self, query: UsageQuery) -> tuple[UsageRow, ...]: ...

    async def requests(self, query: RequestQuery) -> RequestPage: ...

    async def idle(self, since: str | None, until: str | None) -> tuple[IdleRow, ...]: ...


async def usage_page(service: UsageService, query: UsageQuery) -> UsagePage:
    """Sums by group."""
    return UsagePage(rows=await service.usage(query))


async def request_rows(service: UsageService, query: RequestQuery) -> RequestRows:
    """One page of requests."""
    page = await service.requests(query)
    return RequestRows(requests=tuple(map(record_fields, page.records)), next=page.next)


async def idle_page(service: UsageService, since: str | None, until: str | None) -> IdlePage:
    """Busy and idle by day and pool."""
    check_day("since", since)
    check_day("until", until)
    return IdlePage(rows=tuple(IdlePool(hours=row, cost=pool_cost(row)) for row in await service.idle(since, until)))
