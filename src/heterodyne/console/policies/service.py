"""What knows of guards, caches and cascades, and drops kept answers."""

from typing import Protocol

from heterodyne.console.change_recorder import ChangeRecorder, Effect, Intent
from heterodyne.console.policies.forms import DropForm
from heterodyne.console.policies.pages import CachePage, CascadePage, Dropped, GuardPage, HitPage
from heterodyne.domain.guard_hit import GuardHitQuery


class PolicyService(Protocol):
    """One per supervisor."""

    async def guards(self, since_at: float, until_at: float) -> GuardPage: ...

    async def hits(self, query: GuardHitQuery) -> HitPage: ...

    async def caches(self, since_at: float, until_at: float) -> CachePage: ...

    async def cascades(self, since_at: float, until_at: float) -> CascadePage: ...


class DropService(Protocol):
    """One per supervisor."""

    async def drop(self, form: DropForm) -> Dropped: ...


class CacheChanges:
    """What an operator may do to caches, each thing written down around being done."""

    def __init__(self, drops: DropService, recorder: ChangeRecorder) -> None:
        self._drops = drops
        self._recorder = recorder

    async def drop(self, form: DropForm, who: str) -> Dropped:
        intent = Intent(who=who, what="caches.drop", subject=str(form), wanted=form)
        return await self._recorder.carry_out(
            intent, lambda: self._drops.drop(form), lambda done: Effect(after=done.drop)
        )
