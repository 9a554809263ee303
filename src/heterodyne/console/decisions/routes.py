"""The paths of the admin API about routing decisions: those made, and what one would be."""

from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute, QueryWord
from heterodyne.console.decisions.pages import DecisionPage
from heterodyne.console.decisions.service import DecisionService
from heterodyne.console.errors import NoWorkerAnswers
from heterodyne.console.guard import Guard
from heterodyne.domain.errors import InvalidField, UnknownModel, UnknownName
from heterodyne.routing.explanation.explanation import Explanation, PastDecision
from heterodyne.routing.explanation.question import Question

LIMIT_DEFAULT = 20
LIMIT_MAX = 1000
LIMIT = QueryWord(
    name="limit",
    description="How many at most.",
    schema={"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
)


def decision_routes(guard: Guard, service: DecisionService) -> list[AdminRoute]:
    """`/admin/explain`, and `/admin/decisions` and below."""

    async def decision(request: Request) -> PastDecision:
        return await service.decision(request.path_params["id"])

    async def decisions(request: Request) -> DecisionPage:
        limit = read_limit(request.query_params.get("limit"))
        return DecisionPage(decisions=await service.decisions(limit))

    return [
        AdminRoute(
            method="POST",
            path="/admin/explain",
            endpoint=guard.asking(Question, service.explain),
            summary="Say where a request would go, and why",
            body=Question,
            answer=Explanation,
            raises=(UnknownName, UnknownModel, NoWorkerAnswers),
        ),
        AdminRoute(
            method="GET",
            path="/admin/decisions",
            endpoint=guard.reading(decisions),
            summary="List how the latest requests were placed",
            answer=DecisionPage,
            query=(LIMIT,),
            raises=(NoWorkerAnswers,),
        ),
        AdminRoute(
            method="GET",
            path="/admin/decisions/{id}",
            endpoint=guard.reading(decision),
            summary="Say why a request went where it did",
            answer=PastDecision,
            raises=(UnknownName, NoWorkerAnswers),
        ),
    ]


def read_limit(text: str | None) -> int:
    """How many decisions to show, from a query."""
    if text is None:
        return LIMIT_DEFAULT
    if not text.isascii() or not text.isdigit() or len(text) > len(str(LIMIT_MAX)) or not 1 <= int(text) <= LIMIT_MAX:
        raise InvalidField(f"limit: a whole number from 1 to {LIMIT_MAX} is expected.", param="limit")
    return int(text)
