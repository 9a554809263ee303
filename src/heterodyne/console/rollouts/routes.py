"""The paths of the admin API about rollouts."""

from collections.abc import Awaitable, Callable

from msgspec import Struct
from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute, QueryWord
from heterodyne.console.errors import ChangeRefused
from heterodyne.console.guard import Body, Guard
from heterodyne.console.query_params import check_names
from heterodyne.console.rollouts.forms import RolloutOf, RolloutStart
from heterodyne.console.rollouts.pages import RolloutPage
from heterodyne.console.rollouts.service import RolloutChanges, RolloutService
from heterodyne.console.rollouts.standing import standing_of
from heterodyne.domain.errors import SettingsInvalid, UnknownName
from heterodyne.rollout.machine import Rollout


def rollout_routes(guard: Guard, rollouts: RolloutService, changes: RolloutChanges) -> list[AdminRoute]:
    """What may be seen and done."""

    async def page(request: Request) -> RolloutPage:
        check_names(request.query_params, {"model"})
        found, splits = await rollouts.history(request.query_params.get("model")), rollouts.splits()
        return RolloutPage(rollouts=found, standings=tuple(standing_of(one, splits.get(one.model)) for one in found))

    def change(name: str, summary: str, kind: type[Body], act: Callable[[Body, str], Awaitable[Rollout]]) -> AdminRoute:
        assert issubclass(kind, Struct)
        return AdminRoute(
            method="POST",
            path=f"/admin/rollouts/{name}",
            endpoint=guard.changing("rollout_change", name, kind, act),
            summary=summary,
            body=kind,
            answer=Rollout,
            raises=(UnknownName, ChangeRefused, SettingsInvalid),
        )

    return [
        AdminRoute(
            method="GET",
            path="/admin/rollouts",
            endpoint=guard.reading(page),
            summary="Show the latest rollout of each model, or all of one",
            query=(QueryWord(name="model", description="All rollouts of this model, the latest first."),),
            answer=RolloutPage,
        ),
        change("start", "Begin to move a model to some of its pools", RolloutStart, changes.start),
        change("pause", "Leave the share as it is", RolloutOf, changes.pause),
        change("resume", "Go on after a pause", RolloutOf, changes.resume),
        change("promote", "Go to the next stage, whatever the evidence says", RolloutOf, changes.promote),
        change("abort", "Go back to the baseline", RolloutOf, changes.abort),
    ]
