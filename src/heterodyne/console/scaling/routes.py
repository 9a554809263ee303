"""The paths of the admin API about pools that grow and shrink by themselves."""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute, QueryWord
from heterodyne.console.guard import Guard
from heterodyne.console.query_params import check_names, read_whole
from heterodyne.console.scaling.forms import ScalingOf
from heterodyne.console.scaling.pages import Paused, ScalingPage
from heterodyne.console.scaling.service import ScalingChanges, ScalingService
from heterodyne.domain.errors import UnknownName

DECISIONS_MAX: Final = 500
DECISIONS_DEFAULT: Final = 20


def scaling_routes(guard: Guard, scaling: ScalingService, changes: ScalingChanges) -> list[AdminRoute]:
    """What may be seen and done."""

    async def page(request: Request) -> ScalingPage:
        params = request.query_params
        check_names(params, {"model", "limit"})
        return scaling.page(params.get("model"), read_whole(params, "limit", 1, DECISIONS_MAX) or DECISIONS_DEFAULT)

    def change(name: str, summary: str, act: Callable[[ScalingOf, str], Awaitable[Paused]]) -> AdminRoute:
        return AdminRoute(
            method="POST",
            path=f"/admin/scaling/{name}",
            endpoint=guard.changing("scaling_change", name, ScalingOf, act),
            summary=summary,
            body=ScalingOf,
            answer=Paused,
            raises=(UnknownName,),
        )

    return [
        AdminRoute(
            method="GET",
            path="/admin/scaling",
            endpoint=guard.reading(page),
            summary="Show what the autoscaler decided lately, why, and what would have happened otherwise",
            query=(
                QueryWord(name="model", description="Only of this model."),
                QueryWord(
                    name="limit",
                    description="Decisions at most, the latest first.",
                    schema={"type": "integer", "minimum": 1, "maximum": DECISIONS_MAX, "default": DECISIONS_DEFAULT},
                ),
            ),
            answer=ScalingPage,
            raises=(UnknownName,),
        ),
        change("pause", "Have the autoscaler change nothing; it goes on saying what it would", changes.pause),
        change("resume", "Have it go on", changes.resume),
    ]
