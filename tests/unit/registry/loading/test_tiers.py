"""What of a registry lies on a machine: what was used least lately goes, what is pinned stays."""

import os
import shutil
from pathlib import Path

import msgspec
import pytest

from heterodyne.domain.artifact import ArtifactFile, StoredArtifact, WeightTier
from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.blobs.cached import CachedBlobs
from heterodyne.registry.blobs.local import LocalBlobs
from heterodyne.registry.blobs.ranged_read import ReadTerms
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.importing import import_version
from heterodyne.registry.catalog.reference import read_reference
from heterodyne.registry.loading.disk_tier import DiskTier
from heterodyne.registry.loading.ram_tier import RamTier
from heterodyne.registry.loading.tiers import Tiers
from tests.support.catalogs import opened_catalog
from tests.support.tiny_models import tiny_model

TERMS = ReadTerms(range_bytes=10_000)


class Machine:
    """A registry on a share, of which a machine keeps some."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self.share = catalog
        self.folder = folder
        self.models: dict[str, StoredArtifact] = {}

    async def add(self, *names: str) -> None:
        """Models of one size, in the share alone."""
        for number, name in enumerate(names):
            path = tiny_model(self.folder / "sources" / name, seed=number)
            _, self.models[name] = await import_version(self.share, read_reference(name), path, f"file:{path}")

    @property
    def size_bytes(self) -> int:
        return max(one.artifact.size_bytes for one in self.models.values())

    def catalog(self, *, disk_models: float = 100.0, ram_models: float | None = None) -> Catalog:
        """With room for so many of them."""
        own = self.folder / "own"
        blobs = CachedBlobs(LocalBlobs(own / "blobs", TERMS), LocalBlobs(self.folder / "blobs", TERMS))
        tiers = Tiers(
            disk=DiskTier(own, disk_models * self.size_bytes),
            ram=None if ram_models is None else RamTier(self.folder / "ram", ram_models * self.size_bytes, TERMS),
        )
        return Catalog(self.share.store, blobs, own, tiers=tiers)

    def there(self, place: str = "own/served") -> set[str]:
        """Which models are in a folder."""
        names = {one.artifact.digest: name for name, one in self.models.items()}
        return {names[path.name] for path in (self.folder / place).glob("*") if path.is_dir()}

    def age(self, *names: str) -> None:
        """These were used long ago, the first of them first."""
        for number, name in enumerate(names):
            for place in ("own/served", "ram"):
                path = self.folder / place / self.models[name].artifact.digest
                if path.exists():
                    os.utime(path, (1000 + number, 1000 + number))


async def test_what_was_used_least_lately_makes_room(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as share:
        machine = Machine(share, tmp_path)
        await machine.add("a", "b", "c", "d")
        catalog = machine.catalog(disk_models=2.5)
        for name in "ab":
            await catalog.local(machine.models[name])
        machine.age("a", "b")
        await catalog.local(machine.models["a"])  # used again
        await catalog.local(machine.models["c"])
        assert machine.there() == {"a", "c"}
        machine.age("a", "c")
        await catalog.local(machine.models["d"], pinned={machine.models["a"].artifact.digest})
        assert machine.there() == {"a", "d"}
        there = {path.name for path in (tmp_path / "own" / "blobs").glob("??/*") if len(path.name) == 64}
        assert there == {file.sha256 for name in "ad" for file in machine.models[name].artifact.files}


async def test_where_all_is_pinned_the_limit_is_named(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as share:
        machine = Machine(share, tmp_path)
        await machine.add("a", "b")
        catalog = machine.catalog(disk_models=1.5)
        await catalog.local(machine.models["a"])
        with pytest.raises(WeightsUnavailable, match=r"do not fit in registry\.local_max_gib"):
            await catalog.local(machine.models["b"], pinned={machine.models["a"].artifact.digest})
        assert machine.there() == {"a"}


async def test_how_long_it_took_from_each_tier_is_kept(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as share:
        machine = Machine(share, tmp_path)
        await machine.add("a")
        catalog = machine.catalog(ram_models=1.5)
        heard: list[int] = []
        folder = await catalog.served(machine.models["a"], heard.append)
        assert folder == tmp_path / "ram" / machine.models["a"].artifact.digest
        (stored,) = await share.store.artifacts()
        assert {load.tier for load in stored.loads} == {WeightTier.OBJECT_STORE, WeightTier.DISK}
        assert {load.size_bytes for load in stored.loads} == {stored.artifact.size_bytes}
        assert all(load.took_s > 0 for load in stored.loads)
        heard.clear()
        shutil.rmtree(tmp_path / "own")
        assert await catalog.served(machine.models["a"], heard.append) == folder
        assert heard == [], "what is in memory is not read again"


async def test_memory_holds_what_fits_and_the_disk_serves_the_rest(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as share:
        machine = Machine(share, tmp_path)
        await machine.add("a", "b")
        catalog = machine.catalog(ram_models=1.5)
        await catalog.served(machine.models["a"])
        served = await catalog.served(machine.models["b"], pinned={machine.models["a"].artifact.digest})
        assert served.is_relative_to(tmp_path / "own")
        assert machine.there("ram") == {"a"}
        served = await catalog.served(machine.models["b"])
        assert served.is_relative_to(tmp_path / "ram")
        assert machine.there("ram") == {"b"}, "what was used least lately went"


async def test_what_is_used_again_stays_in_memory(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as share:
        machine = Machine(share, tmp_path)
        await machine.add("a", "b", "c")
        catalog = machine.catalog(ram_models=2.5)
        for name in "ab":
            await catalog.served(machine.models[name])
        machine.age("a", "b")
        await catalog.served(machine.models["a"])
        await catalog.served(machine.models["c"])
        assert machine.there("ram") == {"a", "c"}


async def test_a_disk_that_rotted_does_not_get_into_memory(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as share:
        machine = Machine(share, tmp_path)
        await machine.add("a")
        catalog = machine.catalog(ram_models=1.5)
        path = await catalog.local(machine.models["a"]) / "model.safetensors"
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.chmod(0o644)
        path.write_bytes(content)
        with pytest.raises(WeightsCorrupt, match=r"model\.safetensors: its hash is"):
            await catalog.served(machine.models["a"])
        assert not (tmp_path / "ram" / machine.models["a"].artifact.digest / "model.safetensors").exists()


def test_files_made_before_there_was_a_fast_hash_have_the_digest_they_had() -> None:
    old = ArtifactFile("m.gguf", 3, "c" * 64)
    assert msgspec.json.encode(old) == b'{"path":"m.gguf","size_bytes":3,"sha256":"%b"}' % (b"c" * 64)
