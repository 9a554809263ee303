"""What knows the registry, and the few things that are done to it from here."""

from typing import Protocol

from msgspec import Struct

from heterodyne.console.change_recorder import ChangeRecorder, Effect, Intent
from heterodyne.console.registry.forms import RegistryCheck, RegistryCollection
from heterodyne.console.registry.pages import RegistryPage, RegistryVersionPage, VerifiedPage
from heterodyne.registry.catalog.facts import Collected

LIMIT_DEFAULT = 200


class RegistryQuery(Struct, frozen=True, kw_only=True):
    """Which versions are listed."""

    limit: int = LIMIT_DEFAULT
    search: str = ""  # how the model's name begins


class RegistryService(Protocol):
    """One per supervisor."""

    async def versions(self, query: RegistryQuery) -> RegistryPage: ...

    async def version(self, name: str) -> RegistryVersionPage: ...

    async def verify(self, name: str) -> VerifiedPage: ...

    async def collect(self, *, is_dry: bool) -> Collected: ...


class RegistryChanges:
    """What an operator may do, each thing written down around being done."""

    def __init__(self, registry: RegistryService, recorder: ChangeRecorder) -> None:
        self._registry = registry
        self._recorder = recorder

    async def verify(self, check: RegistryCheck, who: str) -> VerifiedPage:
        intent = Intent(who=who, what="registry.verify", subject=check.name)
        return await self._recorder.carry_out(
            intent, lambda: self._registry.verify(check.name), lambda done: Effect(after=done)
        )

    async def collect(self, wanted: RegistryCollection, who: str) -> Collected:
        intent = Intent(who=who, what="registry.gc", subject="registry", wanted=wanted)
        return await self._recorder.carry_out(
            intent, lambda: self._registry.collect(is_dry=wanted.dry_run), lambda done: Effect(after=done)
        )
