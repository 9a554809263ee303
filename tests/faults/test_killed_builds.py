"""A build that is killed at any step leaves what was there as it was, and comes to the same bytes when repeated."""

import subprocess
import sys
from pathlib import Path

import pytest

from heterodyne.domain.artifact import WeightFormat
from heterodyne.registry.catalog.build import BuildRequest, build_artifact, staging_folders
from heterodyne.registry.catalog.importing import import_version
from heterodyne.registry.catalog.reference import read_reference
from heterodyne.registry.catalog.verify import verify
from tests.support.build_child import STEPS
from tests.support.catalogs import opened_catalog
from tests.support.tiny_models import tiny_model


@pytest.mark.parametrize("step", STEPS)
async def test_a_killed_build_is_made_good(step: str, tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    digests = []
    for name in ("undisturbed", "killed"):
        folder = tmp_path / name
        folder.mkdir()
        async with opened_catalog(folder) as catalog:
            version, _ = await import_version(catalog, read_reference("tiny"), model, f"file:{model}")
        if name == "killed":
            kill_at(step, folder)
        async with opened_catalog(folder) as catalog:
            before = await catalog.artifacts(version)
            assert len(before) == (2 if step == "registered" and name == "killed" else 1)
            assert [one.problem for one in await verify(catalog, before)] == [None] * len(before)
            request = BuildRequest(version=version, format=WeightFormat.GGUF, precision="q8_0")
            stored, _ = await build_artifact(catalog, request)
            digests.append(stored.artifact.digest)
            assert [one.problem for one in await verify(catalog, await catalog.artifacts(version))] == [None, None]
            if step != "registered":  # whose folder a collection removes when it is old
                assert staging_folders(catalog) == []
    assert digests[0] == digests[1]


def kill_at(step: str, folder: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.support.build_child", str(folder), step], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == b"there\n"
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
