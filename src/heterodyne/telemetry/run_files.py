"""Small files that processes leave for each other: whole or not at all, and a disk that takes none ends nothing."""

import os
from pathlib import Path

from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.trouble import Trouble

OWNER_ONLY = 0o600

_log = log.get("telemetry")
_troubles: dict[str, Trouble] = {}  # by kind, of which there are few


def try_write(path: Path, content: bytes, kind: str) -> bool:
    """Put it where readers look, in one step; False: the disk did not take it, which is logged and counted.

    A folder that was removed is made again. The caller tries again when it has something newer.
    """
    trouble = _troubles.get(kind)
    if trouble is None:
        trouble = _troubles[kind] = Trouble(_log, "file_not_written", kind=kind, file=str(path))
    try:
        try:
            _write(path, content)
        except FileNotFoundError:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(path, content)
    except OSError as error:
        metrics.writes_failed.add((kind,))
        trouble.failed(error)
        return False
    trouble.worked()
    return True


def _write(path: Path, content: bytes) -> None:
    unready = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(unready, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        unready.replace(path)
    except OSError:
        _forget(unready)  # half a file would hold space that is wanted
        raise


def _forget(unready: Path) -> None:
    try:
        unready.unlink(missing_ok=True)
    except OSError as error:
        _log.debug("file_not_removed", file=str(unready), error=str(error))
