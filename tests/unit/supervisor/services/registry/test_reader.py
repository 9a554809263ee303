"""The registry as the console is told of it: capped, followed by the settings of the moment, and loaded when asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.console.errors import ServiceBusy
from heterodyne.console.registry.service import RegistryQuery, RegistryService
from heterodyne.domain.errors import SettingsInvalid, UnknownName
from heterodyne.fleet.settings import PoolSettings
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.facts import Collected
from heterodyne.supervisor.services.registry.late import LateRegistry
from heterodyne.supervisor.services.registry.reader import AT_ONCE, RegistryReader
from tests.support.registered_models import opened_registry, version_of

POOLS = {
    "small": PoolSettings(model="chat", engine="llamacpp", weights="registry:llama-3.1-8b@v2#q8_0", hardware="cpu-arm")
}


@asynccontextmanager
async def reading(folder: Path) -> AsyncIterator[tuple[RegistryReader, Catalog]]:
    settings = structs.replace(Settings(), pools=POOLS)
    async with opened_registry(folder) as catalog:
        yield RegistryReader(lambda: settings, lambda: catalog), catalog


async def test_versions_are_listed_by_model_the_newest_first_with_what_loads_them(tmp_path: Path) -> None:
    async with reading(tmp_path) as (reader, _):
        page = await reader.versions(RegistryQuery())
        assert [one.name for one in page.versions] == ["llama-3.1-8b@v2", "llama-3.1-8b@v1", "smollm2-135m@v1"]
        used = [(one.name, each.precision, each.pools) for one in page.versions for each in one.artifacts if each.pools]
        assert used == [("llama-3.1-8b@v2", "q8_0", ("small",))]
        assert (page.total, page.is_cut) == (3, False)


async def test_a_list_is_cut_and_says_so(tmp_path: Path) -> None:
    async with reading(tmp_path) as (reader, _):
        page = await reader.versions(RegistryQuery(limit=2))
        assert (len(page.versions), page.total, page.is_cut) == (2, 3, True)
        page = await reader.versions(RegistryQuery(search="smol"))
        assert ([one.model for one in page.versions], page.is_cut) == (["smollm2-135m"], False)


async def test_a_model_means_its_latest_and_the_fleets_own_hardware_comes_first(tmp_path: Path) -> None:
    async with reading(tmp_path) as (reader, _):
        page = await reader.version("llama-3.1-8b")
        assert page.shown.summary.name == "llama-3.1-8b@v2"
        assert page.versions == ("llama-3.1-8b@v2", "llama-3.1-8b@v1")
        assert [one.chip for one in page.shown.best][:2] == ["cpu-arm", "h100-sxm"]
        assert page.shown.affinity
        assert (await reader.version("llama-3.1-8b@v1")).shown.summary.version == "v1"


async def test_an_unknown_name_comes_with_the_nearest(tmp_path: Path) -> None:
    async with reading(tmp_path) as (reader, _):
        with pytest.raises(UnknownName, match='did you mean "smollm2-135m"'):
            await reader.version("smollm-135m")
        with pytest.raises(SettingsInvalid, match="NAME or NAME@VERSION"):
            await reader.version("../etc")


async def test_several_consoles_read_the_database_once(tmp_path: Path) -> None:
    async with reading(tmp_path) as (reader, catalog):
        await reader.versions(RegistryQuery())
        await catalog.store.add_version(version_of("late", "v1"))
        assert (await reader.versions(RegistryQuery())).total == 3
        assert (await reader.version("late")).shown.summary.artifacts == (), "a name is looked for anew"


async def test_bytes_are_checked_and_what_is_missing_is_named(tmp_path: Path) -> None:
    async with reading(tmp_path) as (reader, _):
        [found] = (await reader.verify("smollm2-135m")).artifacts
        assert found.name == "smollm2-135m@v1 gguf q8_0"
        assert found.problem is not None
        assert await reader.collect(is_dry=False) == Collected()


async def test_only_so_many_read_bytes_at_once(tmp_path: Path) -> None:
    async with reading(tmp_path) as (reader, _):
        first = [asyncio.create_task(reader.collect(is_dry=True)) for _ in range(AT_ONCE)]
        await asyncio.sleep(0)
        with pytest.raises(ServiceBusy, match="checks and collections"):
            await reader.collect(is_dry=True)
        assert await asyncio.gather(*first) == [Collected()] * AT_ONCE
        assert await reader.collect(is_dry=True) == Collected()


async def test_it_is_loaded_once_and_not_before_somebody_asks(tmp_path: Path) -> None:
    loaded: list[RegistryService] = []
    async with reading(tmp_path) as (reader, _):

        def load() -> RegistryService:
            loaded.append(reader)
            return reader

        late = LateRegistry(load)
        assert loaded == []
        assert (await late.versions(RegistryQuery())).total == 3
        assert (await late.version("smollm2-135m")).versions == ("smollm2-135m@v1",)
        assert await late.collect(is_dry=True) == Collected()
        assert len((await late.verify("smollm2-135m")).artifacts) == 1
        assert loaded == [reader]
