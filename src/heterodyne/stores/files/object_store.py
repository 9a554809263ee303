"""The bytes of files in an object store, or wherever else `fsspec` reads and writes."""

import asyncio
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from heterodyne.domain.errors import SettingsInvalid, StoreUnavailable
from heterodyne.domain.url_secrets import without_secrets
from heterodyne.ports.file_contents import StoredContent
from heterodyne.stores.files.file_system import open_file_system, written_at

SETTING: Final = "gateway.files_url"
PART_BYTES: Final = 8 << 20  # sent at once; S3 takes 10,000 of them, none but the last below 5 MiB
ATTEMPTS: Final = 3  # of what is small; a whole file is sent once

T = TypeVar("T")


class ObjectContents:
    """Below one URL. Who may read it is said as its own library says it: in the environment, or by the machine's role.

    Its calls block, and so each has a thread; of a file no more than a part is in memory.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._opening = threading.Lock()
        self._opened: tuple[Any, str] | None = None

    async def put(self, id: str, source: Path) -> None:
        await self._in_thread(self._put, id, source)

    async def fetch(self, id: str, target: Path) -> bool:
        return await self._in_thread(self._fetch, id, target)

    async def read(self, id: str, start: int, bytes_max: int) -> bytes:
        return await self._in_thread(self._read, id, start, bytes_max)

    async def delete(self, id: str) -> None:
        await self._in_thread(self._delete, id)

    async def all(self) -> list[StoredContent]:
        return await self._in_thread(self._all)

    def _put(self, id: str, source: Path) -> None:
        files, root = self._open()
        files.makedirs(root, exist_ok=True)
        # By hand: what libraries call "put" holds several parts at once. One that fails may leave a part behind, which
        # no document will know.
        with source.open("rb") as local, files.open(f"{root}/{_name(id)}", "wb", block_size=PART_BYTES) as there:
            shutil.copyfileobj(local, there, PART_BYTES)
        source.unlink()

    def _fetch(self, id: str, target: Path) -> bool:
        files, root = self._open()
        try:
            with files.open(f"{root}/{_name(id)}", "rb", block_size=PART_BYTES) as there, target.open("wb") as local:
                shutil.copyfileobj(there, local, PART_BYTES)
        except FileNotFoundError:
            target.unlink(missing_ok=True)
            return False
        return True

    def _read(self, id: str, start: int, bytes_max: int) -> bytes:
        files, root = self._open()
        path = f"{root}/{_name(id)}"
        try:
            piece: bytes = _again(files.cat_file, path, start=start, end=start + bytes_max)
        except FileNotFoundError:
            return b""
        except Exception:
            if start < files.info(path)["size"]:
                raise
            return b""  # behind the end, which some places take for a mistake
        return piece

    def _delete(self, id: str) -> None:
        files, root = self._open()
        try:
            _again(files.rm_file, f"{root}/{_name(id)}")
        except FileNotFoundError:
            return

    def _all(self) -> list[StoredContent]:
        files, root = self._open()
        try:
            found: dict[str, dict[str, Any]] = _again(files.find, root, detail=True)
        except FileNotFoundError:
            return []
        return [StoredContent(path.rpartition("/")[2], written_at(facts)) for path, facts in found.items()]

    def _open(self) -> tuple[Any, str]:
        with self._opening:
            if self._opened is None:
                self._opened = open_file_system(self._url, SETTING)
            return self._opened

    async def _in_thread(self, work: Callable[..., T], *given: Any) -> T:
        try:
            return await asyncio.to_thread(work, *given)
        except SettingsInvalid as error:
            raise StoreUnavailable(error.message) from error
        except Exception as error:
            # Every library behind fsspec has errors of its own.
            message = f"Files cannot be reached in {without_secrets(self._url)}: {type(error).__name__}: {error}"
            raise StoreUnavailable(message) from error


def _name(id: str) -> str:
    assert id.replace("-", "").replace("_", "").isalnum(), "ids are ours"
    return id


def _again(call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """The call, once more where it fails; what is not there is not asked for twice."""
    for attempt in range(ATTEMPTS):
        try:
            return call(*given, **named)
        except FileNotFoundError:
            raise
        except Exception:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")
