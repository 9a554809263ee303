"""A place for the bytes of files: a folder, and object stores."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.file_contents import FileContents
from heterodyne.stores.files.folder import PART, FolderContents
from heterodyne.stores.files.object_store import ObjectContents
from heterodyne.stores.files.open_contents import open_contents, own_folder
from heterodyne.testing.object_store import ObjectStore, running_object_store


@pytest.fixture(scope="module")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with running_object_store(tmp_path_factory.mktemp("object-store")) as store:
        yield store


@pytest.fixture(params=["folder", "memory", "object store"])
def contents(request: pytest.FixtureRequest, tmp_path: Path) -> FileContents:
    if request.param == "folder":
        return FolderContents(tmp_path / "contents")
    if request.param == "memory":
        return ObjectContents(f"memory://{tmp_path.name}")
    store: ObjectStore = request.getfixturevalue("object_store")
    return ObjectContents(f"{store.url}/{tmp_path.name}")


def a_file(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "source"
    path.write_bytes(data)
    return path


async def test_what_is_put_is_there_and_the_source_is_gone(contents: FileContents, tmp_path: Path) -> None:
    data = Random(1).randbytes(9_000_000)
    source = a_file(tmp_path, data)
    assert await contents.all() == []
    await contents.put("file-1", source)
    assert not source.exists()
    assert await contents.fetch("file-1", tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == data
    assert await contents.read("file-1", 0, 10) == data[:10]
    assert await contents.read("file-1", 8_999_990, 100) == data[-10:]
    assert await contents.read("file-1", 9_000_000, 100) == b""
    assert await contents.read("file-1", 9_000_010, 100) == b""
    [one] = await contents.all()
    assert one.id == "file-1"
    assert abs(one.written_at - time.time()) < 300


async def test_what_is_put_again_takes_the_place_of_what_was_there(contents: FileContents, tmp_path: Path) -> None:
    await contents.put("file-1", a_file(tmp_path, b"one"))
    await contents.put("file-1", a_file(tmp_path, b"two, which is longer"))
    assert await contents.read("file-1", 0, 100) == b"two, which is longer"
    await contents.put("file-2", a_file(tmp_path, b""))
    assert await contents.read("file-2", 0, 100) == b""
    assert sorted(one.id for one in await contents.all()) == ["file-1", "file-2"]


async def test_what_is_not_there_is_empty_and_deleting_it_is_no_mistake(contents: FileContents, tmp_path: Path) -> None:
    assert await contents.read("file-1", 0, 100) == b""
    assert not await contents.fetch("file-1", tmp_path / "target")
    assert not (tmp_path / "target").exists()
    await contents.delete("file-1")
    await contents.put("file-1", a_file(tmp_path, b"one"))
    await contents.delete("file-1")
    await contents.delete("file-1")
    assert await contents.read("file-1", 0, 100) == b""
    assert await contents.all() == []


async def test_several_are_put_and_read_side_by_side(contents: FileContents, tmp_path: Path) -> None:
    names = [f"file-{number}" for number in range(8)]
    for name in names:
        (tmp_path / name).write_bytes(name.encode() * 1000)
    await asyncio.gather(*(contents.put(name, tmp_path / name) for name in names))
    read = await asyncio.gather(*(contents.read(name, 0, 1_000_000) for name in names))
    assert read == [name.encode() * 1000 for name in names]


async def test_a_half_copied_file_is_listed_and_deleted(tmp_path: Path) -> None:
    contents = FolderContents(tmp_path / "contents")
    (tmp_path / "contents").mkdir()
    (tmp_path / "contents" / f"file-1{PART}").write_bytes(b"half")
    assert [one.id for one in await contents.all()] == ["file-1"]
    await contents.delete("file-1")
    assert await contents.all() == []


async def test_a_place_that_cannot_be_reached_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "a-file").write_bytes(b"")
    in_the_way = FolderContents(tmp_path / "a-file")
    nowhere = ObjectContents("nope://user:secret@nowhere")
    for contents in (in_the_way, nowhere):
        source = a_file(tmp_path, b"x")
        with pytest.raises(StoreUnavailable) as raised:
            await contents.put("file-1", source)
        assert "secret" not in raised.value.message
        assert source.exists()


async def test_an_object_store_that_is_away_is_unavailable(tmp_path: Path) -> None:
    with running_object_store(tmp_path / "objects") as store:
        contents = ObjectContents(f"{store.url}/x")
        await contents.put("file-1", a_file(tmp_path, b"x"))
        store.kill()
        with pytest.raises(StoreUnavailable):
            await contents.read("file-1", 0, 10)
        store.start()
        assert await contents.read("file-1", 0, 10) == b"x"


def test_each_database_has_a_folder_of_its_own(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    urls = (
        "sqlite:",
        f"sqlite:{tmp_path}/a.db",
        f"sqlite:{tmp_path}/b.db",
        "postgresql://u:one@host/a",
        "postgresql://host/b",
    )
    folders = [own_folder(url, environ) for url in urls]
    assert len(set(folders)) == len(urls)
    assert folders[0] == tmp_path / "heterodyne" / "files"
    assert folders[1] == tmp_path / "a.db.files"
    assert own_folder("postgresql://other:two@host/a", environ) == folders[3], "whoever asks for it"


@pytest.mark.parametrize("url", [None, "/srv/files", "file:///srv/files"])
def test_a_folder_needs_no_library(url: str | None) -> None:
    assert isinstance(open_contents(url, "sqlite:", {"HOME": "/"}), FolderContents)
