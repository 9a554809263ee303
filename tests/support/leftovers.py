"""Ends what a test run has started once the run itself is gone, however it went: `kill -9` included.

The run starts it as a child of its own session and holds the other end of its standard input; the end of that is the
end of the run. Processes are known by a mark in their environment, and by their parents: some servers (Redis) write
their title over their environment. A machine without `/proc` has no such keeper; there, a killed run leaves servers.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

MARK = "TEST_RUN_MARK"  # in the environment of everything that a run starts
LOOK_EVERY_S = 0.5
INSIST_S = 10.0

PROC = Path("/proc")
ROOT = Path(__file__).parents[2]

Born = dict[int, str]  # when each process was started, in the kernel's ticks; a number may be used again


def watch_over_this_run() -> None:
    """Mark whatever this process starts from here on, and have it ended when this process has."""
    if not PROC.is_dir():
        return
    os.environ[MARK] = mark = f"{os.getpid()}-{time.time_ns()}"
    # Held until this process ends: the pipe is how the keeper knows.
    _held.append(
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.leftovers", mark],
            stdin=subprocess.PIPE,
            start_new_session=True,
            cwd=ROOT,
        )
    )


_held: list["subprocess.Popen[bytes]"] = []


def _keep(mark: str) -> None:
    known: Born = {}
    while not select.select([0], [], [], LOOK_EVERY_S)[0]:
        known = _started_by_run(mark, known)
    until_s = time.monotonic() + INSIST_S
    while time.monotonic() < until_s and (known := _started_by_run(mark, known)):
        for pid in known:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _started_by_run(mark: str, known: Born) -> Born:
    """Those of before that are still there, those with the mark, and whoever descends from them."""
    parents: dict[int, int] = {}
    found: Born = {}
    wanted = f"{MARK}={mark}".encode()
    for folder in PROC.iterdir():
        if not folder.name.isdigit() or (pid := int(folder.name)) == os.getpid():
            continue
        with contextlib.suppress(OSError):  # it has ended meanwhile
            fields = (folder / "stat").read_text().rpartition(") ")[2].split()
            if fields[0] == "Z":
                continue
            parents[pid], born = int(fields[1]), fields[19]
            if known.get(pid) == born or wanted in (folder / "environ").read_bytes().split(b"\0"):
                found[pid] = born
    grew = True
    while grew:
        young = [pid for pid, parent in parents.items() if parent in found and pid not in found]
        for pid in young:
            with contextlib.suppress(OSError):
                found[pid] = (PROC / str(pid) / "stat").read_text().rpartition(") ")[2].split()[19]
        grew = any(pid in found for pid in young)
    return found


if __name__ == "__main__":
    _keep(sys.argv[1])
