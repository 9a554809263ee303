"""The routes of the admin API for tenants and keys, made of the table of operations."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute, QueryWord
from heterodyne.console.guard import Guard
from heterodyne.console.tenants import operations
from heterodyne.console.tenants.operations import ChangeOperation, ListOperation, ReadOperation
from heterodyne.console.tenants.page_query import LIMIT_DEFAULT, read_page
from heterodyne.console.tenants.service import TenantService
from heterodyne.domain.errors import UnknownName
from heterodyne.ports.tenants import PAGE_MAX

PAGE: tuple[QueryWord, ...] = (
    QueryWord(name="after", description="The `next_after` of the page before."),
    QueryWord(
        name="limit",
        description="How many at most.",
        schema={"type": "integer", "minimum": 1, "maximum": PAGE_MAX, "default": LIMIT_DEFAULT},
    ),
)
WITH_SPENT = QueryWord(
    name="with_spent",
    description="With those that were revoked or have expired.",
    schema={"type": "string", "enum": ["true", "false"], "default": "false"},
)
# In the order of the description of the API; changes first, as a path that both could be is one that only GET may read.
OPERATIONS: tuple[ChangeOperation[Any, Any] | ReadOperation[Any] | ListOperation[Any, Any], ...] = (
    operations.CREATE_ORGANISATION,
    operations.UPDATE_ORGANISATION,
    operations.DISABLE_ORGANISATION,
    operations.ENABLE_ORGANISATION,
    operations.CREATE_PROJECT,
    operations.UPDATE_PROJECT,
    operations.DISABLE_PROJECT,
    operations.ENABLE_PROJECT,
    operations.CREATE_KEY,
    operations.UPDATE_KEY,
    operations.ROTATE_KEY,
    operations.REVOKE_KEY,
    operations.ORGANISATIONS,
    operations.ORGANISATION,
    operations.PROJECTS,
    operations.PROJECT,
    operations.KEYS,
    operations.KEY,
)


def tenant_routes(guard: Guard, service: TenantService) -> list[AdminRoute]:
    """One for each operation, each behind the guard."""
    return [_route(guard, service, operation) for operation in OPERATIONS]


def _route(
    guard: Guard,
    service: TenantService,
    operation: ChangeOperation[Any, Any] | ReadOperation[Any] | ListOperation[Any, Any],
) -> AdminRoute:
    match operation:
        case ChangeOperation():
            return _change(guard, service, operation)
        case ReadOperation():

            async def read(request: Request) -> object:
                id = "/".join(request.path_params[part] for part in operation.id_parts)
                return await operation.act(service, id)

            return _shown(guard, operation, read)
        case ListOperation():

            async def listed(request: Request) -> object:
                query = read_page(request.query_params, of=operation.of, may_be_spent=operation.may_be_spent)
                return await operation.act(service, query)

            return _shown(guard, operation, listed, _query_words(operation))


def _change(guard: Guard, service: TenantService, operation: ChangeOperation[Any, Any]) -> AdminRoute:
    async def change(body: Any, who: str) -> object:
        return await operation.act(service, body, who)

    return AdminRoute(
        method="POST",
        path=operation.path,
        endpoint=guard.changing("tenant_change", operation.name, operation.body, change),
        summary=operation.summary,
        body=operation.body,
        answer=operation.answer,
        raises=(UnknownName, *operation.raises),
    )


def _shown(
    guard: Guard,
    operation: ReadOperation[Any] | ListOperation[Any, Any],
    handle: Callable[[Request], Awaitable[object]],
    query: tuple[QueryWord, ...] = (),
) -> AdminRoute:
    return AdminRoute(
        method="GET",
        path=operation.path,
        endpoint=guard.reading(handle),
        summary=operation.summary,
        answer=operation.answer,
        query=query,
        raises=(UnknownName,),
    )


def _query_words(operation: ListOperation[Any, Any]) -> tuple[QueryWord, ...]:
    words = list(PAGE)
    if operation.of is not None:
        words.append(QueryWord(name=operation.of, description=f"Only those of this {operation.of}."))
    if operation.may_be_spent:
        words.append(WITH_SPENT)
    return tuple(words)
