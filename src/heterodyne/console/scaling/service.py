"""What grows and shrinks pools."""

from typing import Protocol

from heterodyne.console.change_recorder import ChangeRecorder, Effect, Intent
from heterodyne.console.scaling.forms import ScalingOf
from heterodyne.console.scaling.pages import Paused, ScalingPage


class ScalingService(Protocol):
    """One per supervisor."""

    def page(self, model: str | None, most: int) -> ScalingPage: ...

    def pause(self, model: str | None, *, is_paused: bool) -> Paused: ...


class ScalingChanges:
    """What an operator may do, written down around being done."""

    def __init__(self, scaling: ScalingService, recorder: ChangeRecorder) -> None:
        self._scaling = scaling
        self._recorder = recorder

    async def pause(self, of: ScalingOf, who: str) -> Paused:
        return await self._set("pause", of, who, is_paused=True)

    async def resume(self, of: ScalingOf, who: str) -> Paused:
        return await self._set("resume", of, who, is_paused=False)

    async def _set(self, name: str, of: ScalingOf, who: str, *, is_paused: bool) -> Paused:
        async def act() -> Paused:
            return self._scaling.pause(of.model, is_paused=is_paused)

        intent = Intent(who=who, what=f"scaling.{name}", subject=of.model or "all models")
        return await self._recorder.carry_out(intent, act, lambda done: Effect(after=done))
