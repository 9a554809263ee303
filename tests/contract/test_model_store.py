"""What every store knows of versions and artifacts, asked of SQLite and of a real PostgreSQL."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from heterodyne.domain.artifact import (
    Artifact,
    ArtifactFile,
    ArtifactLoad,
    ArtifactProvenance,
    ModelVersion,
    Recipe,
    Signature,
    StoredArtifact,
    WeightFormat,
    WeightTier,
)
from heterodyne.domain.errors import UnknownName
from heterodyne.domain.parity import ParityVerdict
from heterodyne.ports.model_store import ModelStore
from heterodyne.stores.open_store import models_in
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.sqlite.database import SqliteDatabase
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture

Opened = Callable[[], AbstractAsyncContextManager[ModelStore]]


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    @asynccontextmanager
    async def sqlite() -> AsyncIterator[ModelStore]:
        database = await SqliteDatabase.open(tmp_path / "models.sqlite")
        yield models_in(database)
        await database.close()

    if request.param == "sqlite":
        return sqlite
    url = request.getfixturevalue("postgres_url")

    @asynccontextmanager
    async def postgres() -> AsyncIterator[ModelStore]:
        database = await PostgresDatabase.open(url)
        yield models_in(database)
        await database.close()

    return postgres


def version(name: str, at: float = 1.0, model: str = "m") -> ModelVersion:
    return ModelVersion(
        model=model, version=name, source="file:/x", source_sha256="ab", created_at=at, facts={"layers": "2"}
    )


def artifact(name: str, precision: str = "fp16", at: float = 1.0, model: str = "m") -> StoredArtifact:
    made = Artifact(
        model=model,
        version=name,
        format=WeightFormat.GGUF,
        precision=precision,
        recipe=Recipe(builder="import", settings={"a": "ä"}, inputs=("x",)),
        files=(ArtifactFile("m.gguf", 3, "c" * 64),),
    )
    return StoredArtifact(artifact=made, provenance=ArtifactProvenance(at=at, tools={"numpy": "2"}))


async def test_what_was_added_is_there_for_whoever_opens_it_again(opened: Opened) -> None:
    async with opened() as store:
        assert await store.add_version(version("v2", 2.0))
        assert await store.add_version(version("v1", 1.0))
        assert await store.add_artifact(artifact("v1", at=5.0))
        assert await store.add_artifact(artifact("v1", "q8_0", at=4.0))
    async with opened() as again:
        assert await again.versions() == (version("v1", 1.0), version("v2", 2.0)), "the oldest first"
        assert await again.artifacts() == (artifact("v1", "q8_0", at=4.0), artifact("v1", at=5.0))


async def test_a_version_never_changes(opened: Opened) -> None:
    async with opened() as store:
        assert await store.add_version(version("v1"))
        assert not await store.add_version(version("v1", 9.0))
        assert await store.versions() == (version("v1"),)
        assert await store.add_artifact(artifact("v1"))
        assert not await store.add_artifact(artifact("v1", at=7.0)), "the digest has no time in it"


async def test_an_artifact_is_of_a_version_that_is_there(opened: Opened) -> None:
    async with opened() as store:
        with pytest.raises(UnknownName, match="no m@v1"):
            await store.add_artifact(artifact("v1"))


async def test_signatures_come_with_their_artifact_one_for_each_key(opened: Opened) -> None:
    one, other = artifact("v1"), artifact("v1", "q8_0")
    async with opened() as store:
        await store.add_version(version("v1"))
        await store.add_artifact(one)
        await store.add_artifact(other)
        for key, text in (("b", "old"), ("a", "x"), ("b", "new")):
            await store.sign(one.artifact.digest, Signature(key_id=key, signature=text, at=1.0))
        found = {stored.artifact.precision: stored.signatures for stored in await store.artifacts()}
        assert [(signed.key_id, signed.signature) for signed in found["fp16"]] == [("a", "x"), ("b", "new")]
        assert found["q8_0"] == ()
        with pytest.raises(UnknownName, match="no artifact"):
            await store.sign("0" * 64, Signature(key_id="a", signature="x", at=1.0))  # type: ignore[arg-type]


async def test_the_latest_verdict_of_each_engine_comes_with_its_artifact(opened: Opened) -> None:
    one = artifact("v1")
    async with opened() as store:
        await store.add_version(version("v1"))
        await store.add_artifact(one)
        await store.add_artifact(artifact("v1", "q8_0"))
        for run_by, breaches in (("vllm", ()), ("llamacpp", ("KL 3",)), ("llamacpp", ())):
            await store.judge(
                one.artifact.digest, ParityVerdict(reference="r", run_by=run_by, at=1.0, breaches=breaches)
            )
        found = {stored.artifact.precision: stored.verdicts for stored in await store.artifacts()}
        assert [(verdict.run_by, verdict.has_passed) for verdict in found["fp16"]] == [
            ("llamacpp", True),
            ("vllm", True),
        ]
        assert found["q8_0"] == ()
        with pytest.raises(UnknownName, match="no artifact"):
            await store.judge("0" * 64, ParityVerdict(reference="r", run_by="x", at=1.0))  # type: ignore[arg-type]


async def test_the_latest_load_from_each_tier_comes_with_its_artifact(opened: Opened) -> None:
    one, other = artifact("v1"), artifact("v1", "q8_0")
    async with opened() as store:
        await store.add_version(version("v1"))
        await store.add_artifact(one)
        await store.add_artifact(other)
        for tier, took_s in ((WeightTier.OBJECT_STORE, 9.0), (WeightTier.DISK, 1.0), (WeightTier.OBJECT_STORE, 4.0)):
            await store.add_load(one.artifact.digest, ArtifactLoad(tier=tier, size_bytes=3, took_s=took_s, at=1.0))
        found = {stored.artifact.precision: stored.loads for stored in await store.artifacts()}
        assert {(load.tier, load.took_s) for load in found["fp16"]} == {
            (WeightTier.OBJECT_STORE, 4.0),
            (WeightTier.DISK, 1.0),
        }
        assert found["q8_0"] == ()
        await store.remove_artifact(one.artifact.digest)
        gone = ArtifactLoad(tier=WeightTier.DISK, size_bytes=3, took_s=1.0, at=1.0)
        await store.add_load(one.artifact.digest, gone)
        assert [stored.loads for stored in await store.artifacts()] == [()], "of one that is gone nothing is kept"


async def test_what_is_removed_is_gone_and_nothing_else(opened: Opened) -> None:
    async with opened() as store:
        for name in ("v1", "v2"):
            await store.add_version(version(name))
            for precision in ("fp16", "q8_0"):
                stored = artifact(name, precision)
                await store.add_artifact(stored)
                await store.sign(stored.artifact.digest, Signature(key_id="a", signature="x", at=1.0))
                await store.judge(stored.artifact.digest, ParityVerdict(reference="r", run_by="x", at=1.0))
        await store.remove_artifact(artifact("v1").artifact.digest)
        await store.remove_artifact(artifact("v1").artifact.digest)
        await store.remove_version("m", "v2")
        await store.remove_version("m", "v3")
        assert await store.versions() == (version("v1"),)
        assert [one.artifact.precision for one in await store.artifacts()] == ["q8_0"]
