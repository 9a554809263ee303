"""The bytes of files in a folder of this machine, or of a file system that several share."""

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.file_contents import StoredContent

PART: Final = ".part"  # not whole yet

T = TypeVar("T")


class FolderContents:
    """One file for each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

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

    def _path(self, id: str) -> Path:
        assert id.replace("-", "").replace("_", "").isalnum(), "ids are ours"
        return self._folder / id

    def _put(self, id: str, source: Path) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        target = self._path(id)
        _sync(source)  # what a document tells of is there after a power failure, too
        try:
            source.rename(target)
        except OSError:  # another file system
            part = target.with_name(target.name + PART)
            shutil.copyfile(source, part)
            part.rename(target)
            source.unlink()

    def _fetch(self, id: str, target: Path) -> bool:
        try:
            shutil.copyfile(self._path(id), target)
        except FileNotFoundError:
            return False
        return True

    def _read(self, id: str, start: int, bytes_max: int) -> bytes:
        try:
            file = os.open(self._path(id), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return b""
        try:
            return os.pread(file, bytes_max, start)
        finally:
            os.close(file)

    def _delete(self, id: str) -> None:
        path = self._path(id)
        path.unlink(missing_ok=True)
        path.with_name(path.name + PART).unlink(missing_ok=True)

    def _all(self) -> list[StoredContent]:
        if not self._folder.is_dir():
            return []
        with os.scandir(self._folder) as entries:
            return [
                StoredContent(entry.name.removesuffix(PART), entry.stat().st_mtime)
                for entry in entries
                if entry.is_file(follow_symlinks=False)
            ]

    async def _in_thread(self, work: Callable[..., T], *given: Any) -> T:
        try:
            return await asyncio.to_thread(work, *given)
        except OSError as error:
            raise StoreUnavailable(f"Files cannot be reached: {error.strerror or error}.") from error


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
