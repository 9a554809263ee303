"""Whatever was imported, built, removed and collected in whatever order: what an artifact refers to is there."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from heterodyne.domain.artifact import (
    Artifact,
    ArtifactFile,
    ArtifactProvenance,
    ModelVersion,
    Recipe,
    StoredArtifact,
    WeightFormat,
)
from heterodyne.domain.errors import SettingsInvalid, UnknownName
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.collect import collect, remove_version
from heterodyne.registry.files import sha256_of
from tests.support.catalogs import opened_catalog
from tests.support.examples import examples

VERSIONS, CONTENTS = 3, 4
ACTS = st.one_of(
    st.tuples(st.just("add"), st.integers(1, VERSIONS), st.sets(st.integers(0, CONTENTS - 1), min_size=1)),
    st.tuples(st.just("put"), st.just(0), st.sets(st.integers(0, CONTENTS - 1), min_size=1)),  # referred to by nothing
    st.tuples(st.just("remove"), st.integers(1, VERSIONS), st.just(frozenset())),
    st.tuples(st.just("collect"), st.just(0), st.just(frozenset())),
)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(ACTS, max_size=14), st.sets(st.integers(1, VERSIONS)))
def test_nothing_that_is_referred_to_is_collected(acts: Sequence[tuple[str, int, set[int]]], pinned: set[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder), acts, {f"m@v{number}": "a pool" for number in pinned}))


async def play(folder: Path, acts: Sequence[tuple[str, int, set[int]]], pinned: dict[str, str]) -> None:
    async with opened_catalog(folder) as catalog:
        held: set[str] = set()  # versions that are pinned and were added
        for kind, number, contents in acts:
            if kind == "add":
                await add(catalog, folder, number, contents)
                held |= {f"m@v{number}"} & pinned.keys()
            elif kind == "put":
                files_of(catalog, folder, contents)
            elif kind == "remove":
                try:
                    await remove_version(catalog, f"m@v{number}", pinned)
                except (SettingsInvalid, UnknownName):
                    continue
            else:
                await collect(catalog, grace_s=-60.0)
            assert held <= {version.name for version in await catalog.versions()}
            for stored in await catalog.store.artifacts():
                for file in stored.artifact.files:
                    assert catalog.blobs.has(file.sha256, file.size_bytes)
        await collect(catalog, grace_s=-60.0)
        referred = {file.sha256 for stored in await catalog.store.artifacts() for file in stored.artifact.files}
        assert {sha256 for sha256, _ in catalog.blobs.kept()} == referred, "and nothing else is kept"


async def add(catalog: Catalog, folder: Path, number: int, contents: set[int]) -> None:
    version = ModelVersion(model="m", version=f"v{number}", source="", source_sha256="", created_at=float(number))
    files = files_of(catalog, folder, contents)
    artifact = Artifact(
        model="m",
        version=version.version,
        format=WeightFormat.GGUF,
        precision="fp16",
        recipe=Recipe(builder="x"),
        files=files,
    )
    await catalog.store.add_version(version)
    await catalog.store.add_artifact(StoredArtifact(artifact=artifact, provenance=ArtifactProvenance(at=0.0)))


def files_of(catalog: Catalog, folder: Path, contents: set[int]) -> tuple[ArtifactFile, ...]:
    found = []
    for content in sorted(contents):
        path = folder / f"file-{content}"
        path.write_bytes(bytes([content]) * 10)
        sha256 = sha256_of(path)
        catalog.blobs.put(path, sha256)
        found.append(ArtifactFile(path.name, 10, sha256))
    return tuple(found)
