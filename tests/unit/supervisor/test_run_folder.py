"""Where the processes of a gateway leave files for each other."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from heterodyne.supervisor.run_folder import SOCKET_PATH_BYTES_MAX, run_folder

HOLD = """
import os, sys
from pathlib import Path
from heterodyne.supervisor.run_folder import run_folder
with run_folder(Path(sys.argv[1]), {}) as path:
    print(path, flush=True)
    sys.stdin.readline()
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def state() -> Iterator[Path]:
    """Short enough for sockets, wherever pytest keeps its folders."""
    with tempfile.TemporaryDirectory(prefix="s-") as folder:
        yield Path(folder) / "heterodyne"


def test_it_is_in_the_state_folder_for_its_user_alone_and_goes_with_its_gateway(state: Path) -> None:
    with run_folder(state, {}) as one, run_folder(state, {}) as other:
        assert one != other
        assert one.parent == other.parent == state / "run"
        assert one.stat().st_mode & 0o777 == 0o700
    assert list((state / "run").iterdir()) == []


def test_what_a_killed_gateway_left_is_swept_and_a_living_one_is_left_alone(state: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as held:
        assert held.stdin is not None
        assert held.stdout is not None
        theirs = Path(os.fsdecode(held.stdout.readline().strip()))
        with run_folder(state, {}):
            assert theirs.exists()
        held.stdin.write(b"\n")
        held.stdin.close()
        assert held.wait(20) == -9
    assert theirs.exists()
    with run_folder(state, {}):
        assert not theirs.exists()


def test_a_state_folder_whose_path_is_too_long_for_sockets_has_its_run_folder_elsewhere(state: Path) -> None:
    runtime = state.parent / "runtime"
    runtime.mkdir()
    deep = state / ("x" * SOCKET_PATH_BYTES_MAX)
    with run_folder(deep, {"XDG_RUNTIME_DIR": str(runtime)}) as path:
        assert path.parent == runtime
    assert list(runtime.iterdir()) == []
    with run_folder(deep, {"XDG_RUNTIME_DIR": str(state / "not there")}) as path:
        assert path.is_dir()


def test_a_state_folder_that_can_have_no_files_is_done_without(state: Path) -> None:
    runtime = state.parent / "runtime"
    runtime.mkdir()
    state.parent.joinpath("file").write_text("")
    with run_folder(state.parent / "file" / "below", {"XDG_RUNTIME_DIR": str(runtime)}) as path:
        assert path.parent == runtime
        assert path.stat().st_mode & 0o777 == 0o700
