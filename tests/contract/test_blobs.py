"""Bytes by their hash: in a folder, on a share, in an object store, and there with a folder before it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from heterodyne.domain.artifact import ArtifactFile
from heterodyne.domain.errors import SettingsInvalid, WeightsCorrupt, WeightsUnavailable
from heterodyne.ports.blobs import BlobStore
from heterodyne.registry.blobs.cached import CachedBlobs
from heterodyne.registry.blobs.local import LocalBlobs
from heterodyne.registry.blobs.object_store import ObjectBlobs
from heterodyne.registry.blobs.ranged_read import ReadTerms
from heterodyne.registry.files import hashes_of
from heterodyne.testing.object_store import ObjectStore, running_object_store

TERMS = ReadTerms(readers=3, range_bytes=1000, timeout_s=20, attempts_max=2)


@pytest.fixture(scope="module")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with running_object_store(tmp_path_factory.mktemp("object-store")) as store:
        yield store


@pytest.fixture(params=["folder", "share", "object store", "cached", "cached share"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    local = LocalBlobs(tmp_path / "blobs", TERMS)
    share = LocalBlobs(tmp_path / "share", TERMS)
    if request.param == "folder":
        return local
    if request.param in {"share", "cached share"}:
        return share if request.param == "share" else CachedBlobs(local, share)
    store: ObjectStore = request.getfixturevalue("object_store")
    record = ObjectBlobs(f"{store.url}/{tmp_path.name}", TERMS, sleep=lambda _: None)
    return record if request.param == "object store" else CachedBlobs(local, record)


def a_file(folder: Path, size_bytes: int = 12_345, seed: int = 1) -> tuple[Path, ArtifactFile]:
    folder.mkdir(exist_ok=True)
    path = folder / f"weights-{seed}.bin"
    path.write_bytes(Random(seed).randbytes(size_bytes))
    return path, ArtifactFile(path.name, size_bytes, *hashes_of(path))


def test_what_is_put_is_there_and_comes_back_whole(blobs: BlobStore, tmp_path: Path) -> None:
    path, file = a_file(tmp_path / "made")
    assert not blobs.has(file.sha256, file.size_bytes)
    blobs.put(path, file.sha256)
    blobs.put(path, file.sha256)
    assert blobs.has(file.sha256, file.size_bytes)
    assert not blobs.has(file.sha256, file.size_bytes + 1), "one of another size was cut"
    heard: list[int] = []
    blobs.fetch(file, tmp_path / "out" / "weights.bin", heard.append)
    assert (tmp_path / "out" / "weights.bin").read_bytes() == path.read_bytes()
    assert sum(heard) == file.size_bytes


def test_all_are_listed_and_may_be_deleted(blobs: BlobStore, tmp_path: Path) -> None:
    assert dict(blobs.kept()) == {}
    files = []
    for seed in range(3):
        path, file = a_file(tmp_path / "made", seed=seed)
        blobs.put(path, file.sha256)
        files.append(file)
    kept = dict(blobs.kept())
    assert kept.keys() == {file.sha256 for file in files}
    assert all(abs(at - path.stat().st_mtime) < 100 for at in kept.values())
    blobs.delete(files[0].sha256)
    blobs.delete(files[0].sha256)
    assert dict(blobs.kept()).keys() == {file.sha256 for file in files[1:]}
    assert not blobs.has(files[0].sha256, files[0].size_bytes)


def test_what_is_not_there_is_named(blobs: BlobStore, tmp_path: Path) -> None:
    _, file = a_file(tmp_path / "made")
    with pytest.raises(WeightsUnavailable, match="import or build it again"):
        blobs.fetch(file, tmp_path / "out", lambda _: None)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("of", ["sha256", "blake3"])
def test_altered_bytes_do_not_arrive(object_store: ObjectStore, tmp_path: Path, of: str) -> None:
    record = ObjectBlobs(f"{object_store.url}/{of}", TERMS)
    path, file = a_file(tmp_path / "made")
    other, _ = a_file(tmp_path / "made", seed=2)
    record.put(other, file.sha256)  # as somebody with access to the bucket would
    if of == "sha256":
        file = ArtifactFile(file.path, file.size_bytes, file.sha256)
    blobs = CachedBlobs(LocalBlobs(tmp_path / "blobs", TERMS), record)
    with pytest.raises(WeightsCorrupt, match=r"weights-1\.bin: its hash is .* the file was altered"):
        blobs.fetch(file, tmp_path / "out", lambda _: None)
    assert not (tmp_path / "out").exists()
    assert not blobs.local.has(file.sha256, file.size_bytes)
    assert path.exists()


def test_a_second_time_nothing_is_asked_of_the_object_store(tmp_path: Path) -> None:
    with running_object_store(tmp_path / "object-store") as store:
        local = LocalBlobs(tmp_path / "blobs", TERMS)
        blobs = CachedBlobs(local, ObjectBlobs(store.url, TERMS, sleep=lambda _: None))
        path, file = a_file(tmp_path / "made")
        blobs.put(path, file.sha256)
        local.delete(file.sha256)
        blobs.fetch(file, tmp_path / "first", lambda _: None)
        store.kill()
        blobs.fetch(file, tmp_path / "second", lambda _: None)
        assert (tmp_path / "second").read_bytes() == path.read_bytes()


def test_an_object_store_that_is_away_is_named_and_gone_on_with(tmp_path: Path) -> None:
    with running_object_store(tmp_path / "object-store") as store:
        record = ObjectBlobs(f"{store.url}/away", TERMS, sleep=lambda _: None)
        path, file = a_file(tmp_path / "made", size_bytes=9500)
        record.put(path, file.sha256)
        whole: Callable[..., bytes] = record._files.cat_file
        asked: list[int] = []

        def until_it_goes(path: str, start: int, end: int) -> bytes:
            asked.append(start)
            if start >= 5000:
                raise ConnectionResetError("gone")
            return whole(path, start=start, end=end)

        record._files.cat_file = until_it_goes
        with pytest.raises(WeightsUnavailable, match=r"s3://models/heterodyne/away: ConnectionResetError: gone"):
            record.fetch(file, tmp_path / "out", lambda _: None)
        assert asked.count(5000) == TERMS.attempts_max
        asked.clear()
        record._files.cat_file = lambda path, start, end: asked.append(start) or whole(path, start=start, end=end)
        record.fetch(file, tmp_path / "out", lambda _: None)
        assert (tmp_path / "out").read_bytes() == path.read_bytes()
        assert min(asked) >= 2000, "what had come was kept"


def test_what_was_left_of_something_else_is_read_anew(object_store: ObjectStore, tmp_path: Path) -> None:
    record = ObjectBlobs(f"{object_store.url}/leftover", TERMS)
    path, file = a_file(tmp_path / "made")
    record.put(path, file.sha256)
    (tmp_path / "out.part").write_bytes(b"?" * 5000)
    record.fetch(file, tmp_path / "out", lambda _: None)
    assert (tmp_path / "out").read_bytes() == path.read_bytes()


def test_a_place_that_nobody_knows_is_named() -> None:
    with pytest.raises(SettingsInvalid, match=r"registry\.blobs_url = 'nope://x'"):
        ObjectBlobs("nope://x", TERMS)
