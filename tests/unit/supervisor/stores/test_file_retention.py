"""The bytes of files go when no document knows them, and no sooner."""

import asyncio
import os
from pathlib import Path

from heterodyne.batches.file_object import ID_BYTES, file_document, file_id
from heterodyne.ports.document_store import Document
from heterodyne.stores.files.folder import FolderContents
from heterodyne.stores.open_store import documents_in
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.supervisor.stores.file_retention import AT_ONCE, KEPT_S, forget_files, forget_unknown

NOW = 1_800_000_000.0


def document(id: str, expires_at: float = NOW + 10) -> Document:
    return file_document(
        "acme/search",
        id=id,
        filename="x",
        purpose="batch",
        size_bytes=1,
        created_at=1.0,
        expires_at=expires_at,
        is_expiry_told=True,
    )


def id_of(number: int) -> str:
    return file_id(number.to_bytes(ID_BYTES, "big"))


def written(folder: Path, name: str, age_s: float) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"x")
    os.utime(folder / name, (NOW - age_s, NOW - age_s))


async def test_what_no_document_knows_is_deleted_after_a_while(tmp_path: Path) -> None:
    database = await SqliteDatabase.open(tmp_path / "documents.sqlite")
    store, contents, folder = documents_in(database), FolderContents(tmp_path / "files"), tmp_path / "files"
    known, expired, unknown, new = (id_of(number) for number in range(4))
    await store.add([document(known), document(expired, NOW - 1)])
    for name in (known, expired, unknown, "somebody-elses.txt"):
        written(folder, name, KEPT_S + 1)
    written(folder, new, KEPT_S - 1)
    many = [id_of(number) for number in range(100, 100 + 2 * AT_ONCE + 3)]
    for name in many:
        written(folder, name, KEPT_S + 1)
    assert await forget_unknown(store, contents, NOW) == 2 + len(many)
    assert {path.name for path in folder.iterdir()} == {known, new, "somebody-elses.txt"}
    await database.close()


async def test_uploads_of_dead_workers_are_deleted(tmp_path: Path) -> None:
    database = await SqliteDatabase.open(tmp_path / "documents.sqlite")
    uploads = tmp_path / "uploads"
    written(uploads, "old", KEPT_S + 1)
    written(uploads, "new", KEPT_S - 1)
    loop = forget_files(documents_in(database), FolderContents(tmp_path / "none"), uploads, lambda: NOW)
    task = asyncio.get_running_loop().create_task(loop)
    async with asyncio.timeout(10):
        while (uploads / "old").exists():
            await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])
    assert (uploads / "new").exists()
    await database.close()
