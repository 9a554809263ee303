"""Gateways that reload together, over a database in memory and settings that are words."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from heterodyne.console.errors import ChangeRefused
from heterodyne.console.fleet.pages import Reloaded
from heterodyne.fleet.settings import FleetSettings
from heterodyne.ports.document_store import DocumentStore
from heterodyne.stores.open_store import documents_in
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.supervisor.fleet.fleet_reload import FleetReload, PreparedReload
from heterodyne.supervisor.fleet.settings_version import SettingsVersion
from heterodyne.supervisor.gateways.gateway_report import GatewayReport
from heterodyne.supervisor.gateways.gateway_watch import SETTLED_S, GatewayWatch
from heterodyne.supervisor.gateways.reload_rule import TAKE_S
from heterodyne.supervisor.gateways.reload_watch import ReloadWatch
from tests.support.report_stores import MemoryReports

WITHIN_S = 30.0


class File:
    """Takes the place of `FleetReload`: a file of one word."""

    def __init__(self) -> None:
        self.says = "old"
        self.version = self._version()
        self.problems: list[str] = []
        self.dies = False  # at the moment of taking

    async def reload(self) -> Reloaded:
        return await self.take(await self.prepare())

    async def prepare(self, *, awaits_workers: bool = True) -> PreparedReload:
        return cast(Any, File._Prepared(self._version()))

    async def take(self, prepared: PreparedReload) -> Reloaded:
        if self.dies:
            raise RuntimeError("killed")
        self.version = prepared.version
        return Reloaded(version=1, is_applied=True)

    def note_refused(self, problem: str) -> None:
        self.problems.append(problem)

    def _version(self) -> SettingsVersion:
        return SettingsVersion(word=self.says, parts={"routing": self.says})

    class _Prepared:
        def __init__(self, version: SettingsVersion) -> None:
            self.version = version


class Fleet:
    """Two gateways, with a clock."""

    def __init__(self, documents: DocumentStore) -> None:
        self.now_s = 100.0
        self.reports = MemoryReports(lambda: self.now_s)
        self.files = {"a": File(), "b": File()}
        self.settings = FleetSettings()
        self.heard: dict[str, GatewayWatch] = {}
        self.reloads: dict[str, ReloadWatch] = {}
        for name, file in self.files.items():
            self.heard[name] = GatewayWatch(self.reports, sender=name, clock=lambda: self.now_s)
            self.heard[name].compose = lambda name=name: GatewayReport(gateway=f"gateway-{name}")  # type: ignore[misc]
            self.reloads[name] = ReloadWatch(
                cast(FleetReload, file),
                documents,
                self.heard[name],
                sender=name,
                name=f"gateway-{name}",
                settings=lambda: self.settings,
                clock=lambda: self.now_s,
            )

    async def hear(self) -> None:
        """For long enough."""
        for _ in range(2):
            for one in self.heard.values():
                await one.turn()
        self.now_s += SETTLED_S
        for one in self.heard.values():
            await one.turn()

    async def look(self, *names: str, until: "asyncio.Task[Reloaded] | None" = None) -> None:
        """These follow, until a reload has ended."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                for name in names:
                    await self.reloads[name].look()
                if until is None or until.done():
                    return
                await asyncio.sleep(0.01)


@asynccontextmanager
async def together(folder: Path) -> AsyncIterator[Fleet]:
    """Both heard of each other, and have a new file."""
    database = await SqliteDatabase.open(folder / "documents.sqlite")
    fleet = Fleet(documents_in(database))
    await fleet.hear()
    for file in fleet.files.values():
        file.says = "new"
    yield fleet
    await database.close()


async def test_both_take_it_and_the_answer_names_them(tmp_path: Path) -> None:
    async with together(tmp_path) as fleet:
        asked = asyncio.create_task(fleet.reloads["a"].reload())
        await fleet.look("a", "b", until=asked)
        assert (await asked).gateways == ("gateway-a", "gateway-b")
        assert {file.version.word for file in fleet.files.values()} == {"new"}


async def test_a_file_that_differs_is_named_by_gateway_and_path(tmp_path: Path) -> None:
    async with together(tmp_path) as fleet:
        fleet.files["b"].says = "other"
        asked = asyncio.create_task(fleet.reloads["a"].reload())
        with pytest.raises(ChangeRefused, match="gateway-b: its file says something else at `routing`"):
            await asyncio.gather(asked, fleet.look("a", "b", until=asked))
        assert {file.version.word for file in fleet.files.values()} == {"old"}


async def test_one_that_dies_after_its_yes_is_named_and_the_others_take_it(tmp_path: Path) -> None:
    async with together(tmp_path) as fleet:
        asked = asyncio.create_task(fleet.reloads["a"].reload())
        async with asyncio.timeout(WITHIN_S):
            while not fleet.reloads["a"].standing().under_way:
                await asyncio.sleep(0.01)
        fleet.files["b"].dies = True
        with pytest.raises(RuntimeError):
            await fleet.reloads["b"].look()
        await fleet.look("a")
        fleet.now_s += TAKE_S
        await fleet.look("a", until=asked)
        answer = await asked
        assert answer.gateways == ("gateway-a",)
        assert answer.note == "gateway-b has not said within 15 s that it has taken it"
        assert fleet.files["a"].version.word == "new"


async def test_without_the_store_nobody_reloads_unless_the_settings_let_it(tmp_path: Path) -> None:
    async with together(tmp_path) as fleet:
        fleet.reports.is_away = True
        with pytest.raises(ChangeRefused, match="--alone"):
            await fleet.reloads["a"].reload()
        assert fleet.files["a"].version.word == "old"
        fleet.settings = FleetSettings(reload_when_unreachable="open")
        assert (await fleet.reloads["a"].reload()).note.startswith("Taken here alone")
        assert [file.version.word for file in fleet.files.values()] == ["new", "old"]


async def test_one_that_was_away_takes_what_was_agreed_on_where_its_file_says_so(tmp_path: Path) -> None:
    async with together(tmp_path) as fleet:
        await fleet.reports.leave("b")
        fleet.now_s += 4.0
        asked = asyncio.create_task(fleet.reloads["a"].reload())
        await fleet.look("a", until=asked)
        answer = await asked
        assert (answer.gateways, answer.note) == (("gateway-a",), "gateway-b was not heard of, and not asked")
        await fleet.reloads["b"].look()
        assert fleet.files["b"].version.word == "new"


async def test_one_that_was_away_and_has_another_file_keeps_what_it_has_and_says_where_it_differs(
    tmp_path: Path,
) -> None:
    async with together(tmp_path) as fleet:
        await fleet.reports.leave("b")
        fleet.now_s += 4.0
        fleet.files["b"].says = "other"
        asked = asyncio.create_task(fleet.reloads["a"].reload())
        await fleet.look("a", until=asked)
        await asked
        await fleet.reloads["b"].look()
        assert fleet.files["b"].version.word == "old"
        assert fleet.reloads["b"].standing().differs_at == ("routing",)


async def test_a_gateway_that_cannot_agree_is_named(tmp_path: Path) -> None:
    async with together(tmp_path) as fleet:
        fleet.heard["b"].settings = str
        await fleet.hear()
        with pytest.raises(ChangeRefused, match="gateway-b runs a version"):
            await fleet.reloads["a"].reload()
