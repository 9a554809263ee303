"""What `make test` promises of itself, tried on runs of its own with the arguments that it uses."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.leftovers import MARK

ROOT = Path(__file__).parents[2]
SAMPLES = Path(__file__).parent / "samples"
PROC = Path("/proc")


def test_one_stuck_test_fails_alone_and_does_not_end_the_run():
    done = subprocess.run(
        [*_pytest(), "--timeout", "3", *(str(SAMPLES / name) for name in ("before.py", "stuck.py", "behind.py"))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert done.returncode == 1
    assert "1 failed, 12 passed" in done.stdout
    assert re.search(r"FAILED .*test_stuck", done.stdout)


@pytest.mark.skipif(not PROC.is_dir(), reason="what a killed run has started is found in /proc")
def test_a_killed_test_run_leaves_no_server_behind(tmp_path: Path):
    stand = tmp_path / "stand"
    run = subprocess.Popen(
        [*_pytest(), str(SAMPLES / "servers.py")],
        cwd=ROOT,
        env={**os.environ, "SERVERS_STAND": str(stand)},
        stdout=subprocess.DEVNULL,
    )
    try:
        assert _comes(stand.exists, within_s=100)
        started = _started_by(run.pid)
        names = {name for _, name in started}
        assert {"redis-server", "postgres"} <= names
        assert len(started) >= 6, "two workers of the run, its servers, and theirs"
    finally:
        run.kill()
        run.wait()

    assert _comes(lambda: not [pid for pid, name in started if _name(pid) == name], within_s=30)


def _pytest() -> list[str]:
    arguments = re.search(r"^PYTEST_ARGS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert arguments is not None
    return [sys.executable, "-m", "pytest", *arguments[1].replace("$(JOBS)", "2").split()]


def _comes(condition, within_s: float) -> bool:
    until_s = time.monotonic() + within_s
    while time.monotonic() < until_s:
        if condition():
            return True
        time.sleep(0.1)
    return False


def _started_by(run: int) -> list[tuple[int, str]]:
    """Its descendants, and whoever has their mark: PostgreSQL leaves its parent."""
    parents = {
        int(one.name): int((one / "stat").read_text().rpartition(") ")[2].split()[1])
        for one in PROC.iterdir()
        if one.name.isdigit() and (one / "stat").exists()
    }
    found = {run}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    marks = {_mark(pid) for pid in found - {run}} - {None}
    assert len(marks) == 1
    found |= {pid for pid in parents if _mark(pid) in marks}
    return [(pid, name) for pid in found - {run} if (name := _name(pid)) is not None]


def _mark(pid: int) -> bytes | None:
    try:
        environment = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return None
    return next((one for one in environment.split(b"\0") if one.startswith(f"{MARK}=".encode())), None)


def _name(pid: int) -> str | None:
    """What it runs; None: it has ended."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    head, _, rest = stat.rpartition(") ")
    return None if rest.startswith("Z") else head.partition("(")[2]
