"""The paths of the admin API about guards, caches and cascades."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, get_args

from msgspec import Struct
from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute, QueryWord
from heterodyne.console.guard import Guard
from heterodyne.console.policies.forms import DropForm
from heterodyne.console.policies.pages import CachePage, CascadePage, Dropped, GuardPage, HitPage
from heterodyne.console.policies.service import CacheChanges, PolicyService
from heterodyne.console.query_params import MOMENT, check_names, read_moment, read_whole
from heterodyne.domain.errors import InvalidField, UnknownName
from heterodyne.domain.guard_hit import GuardHitQuery
from heterodyne.domain.guard_verdict import Action

SPAN_DEFAULT_S: Final = 3600.0
HITS_MAX: Final = 1000
HITS_DEFAULT: Final = 100
ACTIONS: Final = get_args(Action)
SPAN: Final = (
    QueryWord(
        name="since_at",
        description="From this moment on, in seconds since the epoch; an hour before the end when absent.",
        schema=MOMENT,
    ),
    QueryWord(name="until_at", description="Before this moment; now when absent.", schema=MOMENT),
)
FILTERS: Final = (
    QueryWord(name="policy", description="Only what this policy found."),
    QueryWord(name="rule", description="Only this kind of finding, as `iban`."),
    QueryWord(name="action", description="Only where this was done.", schema={"type": "string", "enum": list(ACTIONS)}),
    QueryWord(name="project", description="Only in requests of this project."),
    QueryWord(name="request", description="Only in the request of this id."),
    QueryWord(
        name="limit",
        description="How many at most.",
        schema={"type": "integer", "minimum": 1, "maximum": HITS_MAX, "default": HITS_DEFAULT},
    ),
)


def cache_change_routes(guard: Guard, changes: CacheChanges) -> list[AdminRoute]:
    """For operators."""
    return [
        AdminRoute(
            method="POST",
            path="/admin/caches/drop",
            endpoint=guard.changing("cache_change", "drop", DropForm, changes.drop),
            summary="Give kept answers of a tag, a model or a project no more",
            body=DropForm,
            answer=Dropped,
            raises=(UnknownName,),
        )
    ]


def policy_routes(guard: Guard, service: PolicyService, clock: Callable[[], float]) -> list[AdminRoute]:
    """For viewers and operators; the clock gives seconds since the epoch."""

    async def guards(request: Request) -> GuardPage:
        return await service.guards(*_span_alone(request.query_params, clock()))

    async def hits(request: Request) -> HitPage:
        return await service.hits(read_hit_query(request.query_params, clock()))

    async def caches(request: Request) -> CachePage:
        return await service.caches(*_span_alone(request.query_params, clock()))

    async def cascades(request: Request) -> CascadePage:
        return await service.cascades(*_span_alone(request.query_params, clock()))

    def read(
        path: str,
        summary: str,
        handle: Callable[[Request], Awaitable[Struct]],
        answer: type[Struct],
        query: tuple[QueryWord, ...] = SPAN,
    ) -> AdminRoute:
        return AdminRoute(
            method="GET", path=path, endpoint=guard.reading(handle), summary=summary, answer=answer, query=query
        )

    return [
        read("/admin/guards", "Show what policies found, by policy", guards, GuardPage),
        read("/admin/guards/hits", "List single findings of policies, the newest first", hits, HitPage, SPAN + FILTERS),
        read("/admin/caches", "Show what caches gave again, saved and got wrong", caches, CachePage),
        read("/admin/cascades", "Show what cascades kept, escalated and saved", cascades, CascadePage),
    ]


def read_hit_query(params: Mapping[str, str], now: float) -> GuardHitQuery:
    """The words of `SPAN` and `FILTERS`."""
    check_names(params, {word.name for word in SPAN + FILTERS})
    since_at, until_at = _span(params, now)
    action = params.get("action")
    if action is not None and action not in ACTIONS:
        raise InvalidField(f"action: {', '.join(ACTIONS)} is expected.", param="action")
    return GuardHitQuery(
        since_at=since_at,
        until_at=until_at,
        limit=read_whole(params, "limit", 1, HITS_MAX) or HITS_DEFAULT,
        policy=params.get("policy"),
        rule=params.get("rule"),
        action=action,
        project=params.get("project"),
        request=params.get("request"),
    )


def _span_alone(params: Mapping[str, str], now: float) -> tuple[float, float]:
    check_names(params, {word.name for word in SPAN})
    return _span(params, now)


def _span(params: Mapping[str, str], now: float) -> tuple[float, float]:
    until_at = read_moment(params, "until_at")
    until_at = now if until_at is None else until_at
    since_at = read_moment(params, "since_at")
    since_at = max(0.0, until_at - SPAN_DEFAULT_S) if since_at is None else since_at
    if since_at >= until_at:
        raise InvalidField("since_at, until_at: a span of time that begins before it ends.", param="since_at")
    return since_at, until_at
