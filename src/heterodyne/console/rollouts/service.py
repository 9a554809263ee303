"""What carries rollouts out."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from heterodyne.console.change_recorder import ChangeRecorder, Effect, Intent
from heterodyne.console.rollouts.forms import RolloutOf, RolloutStart
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.rollout.golden import GoldenSet
from heterodyne.rollout.machine import Rollout, aborted, paused, promoted, resumed


class RolloutService(Protocol):
    """One per supervisor."""

    async def start(
        self,
        model: str,
        candidate: Sequence[str],
        who: str,
        *,
        copies: int = 0,
        golden: GoldenSet | None = None,
        has_control: bool = True,
    ) -> Rollout: ...

    async def act(self, model: str, act: Callable[..., Rollout], who: str) -> Rollout: ...

    async def history(self, model: str | None) -> tuple[Rollout, ...]: ...

    def splits(self) -> Mapping[str, RolloutSplit]: ...


class RolloutChanges:
    """What an operator may do, each thing written down around being done."""

    def __init__(self, rollouts: RolloutService, recorder: ChangeRecorder) -> None:
        self._rollouts = rollouts
        self._recorder = recorder

    async def start(self, wanted: RolloutStart, who: str) -> Rollout:
        intent = Intent(who=who, what="rollouts.start", subject=str(wanted), wanted=wanted)

        def start() -> Awaitable[Rollout]:
            return self._rollouts.start(
                wanted.model,
                wanted.candidate,
                who,
                copies=wanted.shadow,
                golden=wanted.golden,
                has_control=wanted.control,
            )

        return await self._recorder.carry_out(intent, start, _effect)

    async def pause(self, of: RolloutOf, who: str) -> Rollout:
        return await self._act("pause", of, who, paused)

    async def resume(self, of: RolloutOf, who: str) -> Rollout:
        return await self._act("resume", of, who, resumed)

    async def promote(self, of: RolloutOf, who: str) -> Rollout:
        return await self._act("promote", of, who, promoted)

    async def abort(self, of: RolloutOf, who: str) -> Rollout:
        return await self._act("abort", of, who, aborted)

    async def _act(self, name: str, of: RolloutOf, who: str, act: Callable[..., Rollout]) -> Rollout:
        intent = Intent(who=who, what=f"rollouts.{name}", subject=of.model)
        return await self._recorder.carry_out(intent, lambda: self._rollouts.act(of.model, act, who), _effect)


def _effect(rollout: Rollout) -> Effect:
    return Effect(subject=rollout.id, after=rollout.steps[-1])
