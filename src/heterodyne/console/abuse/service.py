"""What knows the cases, and the change that an operator may make: written down around being made."""

from typing import Protocol

from heterodyne.console.abuse.forms import AbuseLift
from heterodyne.console.abuse.pages import AbusePage, Lifted
from heterodyne.console.change_recorder import ChangeRecorder, Effect, Intent


class AbuseService(Protocol):
    """One per supervisor."""

    def page(self) -> AbusePage: ...

    async def lift(self, key: str) -> Lifted: ...


class AbuseChanges:
    """What an operator may do."""

    def __init__(self, abuse: AbuseService, recorder: ChangeRecorder) -> None:
        self._abuse = abuse
        self._recorder = recorder

    async def lift(self, wanted: AbuseLift, who: str) -> Lifted:
        """Raises UnknownName where nothing is held against the key."""
        intent = Intent(who=who, what="abuse.lift", subject=wanted.key)
        return await self._recorder.carry_out(intent, lambda: self._abuse.lift(wanted.key), _effect)


def _effect(lifted: Lifted) -> Effect:
    return Effect(before=lifted.cases)
