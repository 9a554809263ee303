"""Where the processes of one gateway leave files and sockets for each other: under the state folder.

The path of a unix socket has little room, and not every disk can have one. Where the state folder's path is too long,
or nothing can be written there, the run folder is in `$XDG_RUNTIME_DIR`, or else in the folder for temporary files.
"""

import fcntl
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.stores.rebinding_listener import bind_owner_only
from heterodyne.telemetry import log

RUNS = "run"  # the folder of run folders
LOCK = "lock"  # held for as long as the folder's supervisor lives
SOCKET_PATH_BYTES_MAX = 103  # what every system we run on takes, its closing zero aside
NAME_BYTES = 3  # of a folder's name, each two characters
UNLOCKED_S = 60.0  # after which a folder without a lock is taken for left behind
SOCKET_NAME_BYTES_MAX = 24  # worker-999.hearsay.sock

_log = log.get("assembly")


@contextmanager
def run_folder(state_dir: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """A folder of this process, for its user alone, removed at the end; raises where none can be made.

    What processes left behind that were killed is removed first.
    """
    made = _try_made(state_dir / RUNS)
    if made is None:
        with _other_folder(environ) as other:
            yield other
        return
    path, lock = made
    try:
        yield path
    finally:
        os.close(lock)
        shutil.rmtree(path, ignore_errors=True)  # what stays is swept by the next start


def _try_made(runs: Path) -> tuple[Path, int] | None:
    """One in the state folder; None: its path is too long, or its disk can have no files or no sockets."""
    if len(os.fsencode(runs)) + 1 + 2 * NAME_BYTES + 1 + SOCKET_NAME_BYTES_MAX > SOCKET_PATH_BYTES_MAX:
        return None
    try:
        runs.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(runs)
        path, lock = _made(runs)
        bind_owner_only(path / "probe.sock").close()
        (path / "probe.sock").unlink()
    except OSError as error:
        _log.warning("run_folder_elsewhere", folder=str(runs), error=str(error))
        return None
    return path, lock


def _made(runs: Path) -> tuple[Path, int]:
    """A new folder and the lock that says that it is in use."""
    path = runs / secrets.token_hex(NAME_BYTES)  # a pid is not unique: containers may share a state folder
    path.mkdir(mode=0o700)
    lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        os.close(lock)
        raise
    return path, lock


@contextmanager
def _other_folder(environ: Mapping[str, str]) -> Iterator[Path]:
    """As short as the machine has one."""
    configured = environ.get("XDG_RUNTIME_DIR")
    runtime = configured if configured and os.access(configured, os.W_OK | os.X_OK) else None
    try:
        made = tempfile.TemporaryDirectory(prefix="heterodyne-", dir=runtime, ignore_cleanup_errors=True)
    except OSError as error:
        raise StoreUnavailable(
            f"{runtime or tempfile.gettempdir()}: no folder for what workers leave for each other: {error.strerror}; "
            "and the state folder can have none, or has too long a path for sockets. Name another in XDG_STATE_HOME."
        ) from error
    with made as path:
        yield Path(path)


def _sweep(runs: Path) -> None:
    """Remove the folders whose processes are gone."""
    for folder in runs.iterdir():
        try:
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            if time.time() - folder.stat().st_mtime > UNLOCKED_S:
                shutil.rmtree(folder, ignore_errors=True)
            continue  # else another start is about to lock it
        except OSError as error:
            _log.warning("run_folder_not_swept", folder=str(folder), error=str(error))
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            continue  # it serves
        finally:
            os.close(lock)
