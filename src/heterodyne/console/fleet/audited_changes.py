"""Changes of the fleet in an operator's name, each written down around being made."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from heterodyne.console.change_recorder import ChangeRecorder, Effect, Intent
from heterodyne.console.fleet.forms import Addition, ReloadOrder, Selection
from heterodyne.console.fleet.pages import Changed, FleetPage, Reloaded, ReplicaCondition, ReplicaRow
from heterodyne.console.fleet.service import FleetService


class ReplicaNote(Struct, frozen=True, kw_only=True):
    """A replica as the audit log has it, before or after a change."""

    id: str
    pool: str
    url: str
    state: ReplicaCondition
    is_drained: bool


class FleetChanges:
    """What an operator may do to a fleet."""

    def __init__(self, fleet: FleetService, recorder: ChangeRecorder) -> None:
        self._fleet = fleet
        self._recorder = recorder

    async def drain(self, selection: Selection, who: str) -> Changed:
        return await self._select("drain", selection, who, self._fleet.drain)

    async def undrain(self, selection: Selection, who: str) -> Changed:
        return await self._select("undrain", selection, who, self._fleet.undrain)

    async def restart(self, selection: Selection, who: str) -> Changed:
        return await self._select("restart", selection, who, self._fleet.restart)

    async def remove(self, selection: Selection, who: str) -> Changed:
        return await self._select("remove", selection, who, self._fleet.remove)

    async def add(self, addition: Addition, who: str) -> Changed:
        intent = Intent(who=who, what="fleet.add", subject=str(addition))
        return await self._recorder.carry_out(intent, lambda: self._fleet.add(addition), self._added)

    async def reload(self, order: ReloadOrder, who: str) -> Reloaded:
        intent = Intent(who=who, what="fleet.reload", subject="settings", wanted=order)
        before = _notes(self._fleet.page(), _anyone)
        return await self._recorder.carry_out(
            intent, lambda: self._fleet.reload(order), lambda done: Effect(before=before, after=done)
        )

    async def _select(
        self, name: str, selection: Selection, who: str, change: Callable[[Selection], Awaitable[Changed]]
    ) -> Changed:
        def is_meant(row: ReplicaRow) -> bool:
            return row.id == selection.replica or row.pool == selection.pool

        intent = Intent(who=who, what=f"fleet.{name}", subject=str(selection))
        before = _notes(self._fleet.page(), is_meant)
        return await self._recorder.carry_out(
            intent,
            lambda: change(selection),
            lambda done: Effect(before=before, after=self._notes_of(done)),
        )

    def _added(self, done: Changed) -> Effect:
        return Effect(after=self._notes_of(done))

    def _notes_of(self, done: Changed) -> tuple[ReplicaNote, ...] | None:
        return _notes(self._fleet.page(), lambda row: row.id in done.replicas)


def _notes(page: FleetPage, is_wanted: Callable[[ReplicaRow], bool]) -> tuple[ReplicaNote, ...] | None:
    """None where there is no such replica."""
    rows = [row for row in page.replicas if is_wanted(row)]
    return (
        tuple(
            ReplicaNote(id=row.id, pool=row.pool, url=row.url, state=row.state, is_drained=row.is_drained)
            for row in rows
        )
        or None
    )


def _anyone(_: ReplicaRow) -> bool:
    return True
