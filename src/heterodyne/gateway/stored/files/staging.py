"""Where uploads are written until they are whole: a folder of this machine, in the state folder."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

from heterodyne.domain.errors import Overloaded, StoreUnavailable

UPLOADS_MAX: Final = 256  # at once, of one worker


class Staging:
    """One per worker. Files of workers that died are deleted by the supervisor."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uploads = 0  # that have a file


class StagedFile:
    """One upload. Writes go to the page cache, a slice at a time, and so need no thread."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging
        self._file: int | None = None
        self._path: Path | None = None
        self.size_bytes = 0

    def write(self, piece: bytes) -> None:
        """The next of it; raises StoreUnavailable where the disk does not take it."""
        try:
            if self._file is None:
                self._open()
            assert self._file is not None
            left = memoryview(piece)
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            self.discard()
            raise StoreUnavailable(f"The file cannot be written: {error.strerror or error}.") from error
        self.size_bytes += len(piece)

    def close(self) -> Path:
        """It is whole; where it is, until it is taken from there or discarded."""
        self.write(b"")  # of an empty one, too, there is a file
        assert self._file is not None
        assert self._path is not None
        os.close(self._file)
        self._file = None
        return self._path

    def discard(self) -> None:
        """Leave nothing behind; where the file was taken, there is nothing."""
        if self._path is not None:
            # To delete a large file takes longer than a turn of the loop may.
            asyncio.get_running_loop().run_in_executor(None, _remove, self._file, self._path)
            self._staging.uploads -= 1
        self._file = self._path = None

    def _open(self) -> None:
        if self._staging.uploads >= UPLOADS_MAX:
            raise Overloaded(f"{UPLOADS_MAX} files are being sent already; try again shortly.", retry_after_s=5)
        self._staging.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._staging.folder / token_hex(16)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._path = path
        self._staging.uploads += 1


def _remove(file: int | None, path: Path) -> None:
    with suppress(OSError):  # the supervisor finds what is left
        if file is not None:
            os.close(file)
        path.unlink()
