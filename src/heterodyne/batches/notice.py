"""What the supervisor leaves in the run folder for its workers: which batches are to be worked on, and where."""

from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

FOLDER: Final = "batches"  # in the run folder
SUFFIX: Final = ".batch"


class WorkNotice(Struct, frozen=True, kw_only=True):
    """One batch that is to be worked on for as long as this is there."""

    batch: str
    project: str
    key: str
    api: str
    endpoint: str
    work_folder: str


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(WorkNotice).decode


class Notices:
    """Those of one run folder."""

    def __init__(self, run_dir: Path) -> None:
        self._folder = run_dir / FOLDER

    def put(self, notice: WorkNotice) -> None:
        """Workers see it soon."""
        self._folder.mkdir(exist_ok=True, mode=0o700)
        part = self._folder / f"{notice.batch}.part"
        part.write_bytes(_encode(notice))
        part.rename(self._path(notice.batch))

    def remove(self, batch: str) -> None:
        """Workers stop, soon."""
        with suppress(FileNotFoundError):  # of the run folder: there is nothing left to remove
            self._folder.mkdir(exist_ok=True, mode=0o700)
        self._path(batch).unlink(missing_ok=True)

    def try_ids(self) -> set[str] | None:
        """Of all that are there; None: the folder is gone, which says of no batch that it is over."""
        try:
            return {path.stem for path in self._folder.iterdir() if path.suffix == SUFFIX}
        except FileNotFoundError:
            return None

    def try_read(self, batch: str) -> WorkNotice | None:
        """None: it is gone."""
        try:
            return _decode(self._path(batch).read_bytes())
        except FileNotFoundError:
            return None

    def _path(self, batch: str) -> Path:
        return self._folder / f"{batch}{SUFFIX}"
