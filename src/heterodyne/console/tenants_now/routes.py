"""`GET /admin/tenants`: projects with what they may use, what they have used and what was refused them."""

from collections.abc import Mapping

from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute, QueryWord
from heterodyne.console.guard import Guard
from heterodyne.console.tenants_now.pages import TenantsNow
from heterodyne.console.tenants_now.service import LIMIT_DEFAULT, TenantsNowService, TenantsQuery
from heterodyne.domain.errors import InvalidField, StoreUnavailable
from heterodyne.domain.nearest import unknown_name

LIMIT_MAX = 500
SEARCH_CHARS_MAX = 200
WORDS = (
    QueryWord(
        name="limit",
        description="How many at most.",
        schema={"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
    ),
    QueryWord(name="search", description="Only projects whose id begins so, as `acme/`."),
)


def tenants_now_routes(guard: Guard, service: TenantsNowService) -> list[AdminRoute]:
    """One path."""

    async def tenants(request: Request) -> TenantsNow:
        return await service.tenants_now(read_tenants_query(request.query_params))

    return [
        AdminRoute(
            method="GET",
            path="/admin/tenants",
            endpoint=guard.reading(tenants),
            summary="Show projects with their limits, use, queue and refusals",
            answer=TenantsNow,
            query=WORDS,
            raises=(StoreUnavailable,),
        )
    ]


def read_tenants_query(params: Mapping[str, str]) -> TenantsQuery:
    """Raises for unknown parameters, so that a misspelt filter does not show all projects."""
    names = [word.name for word in WORDS]
    for name in params:
        if name not in names:
            raise InvalidField(str(unknown_name("query", name[:100], names)), param=name[:100])
    limit = params.get("limit", str(LIMIT_DEFAULT))
    if not limit.isascii() or not limit.isdigit() or len(limit) > 4 or not 1 <= int(limit) <= LIMIT_MAX:
        raise InvalidField(f"limit: a whole number from 1 to {LIMIT_MAX} is expected.", param="limit")
    search = params.get("search", "")
    if len(search) > SEARCH_CHARS_MAX:
        raise InvalidField(f"search: at most {SEARCH_CHARS_MAX} characters are expected.", param="search")
    return TenantsQuery(limit=int(limit), search=search)
