"""A bundle installs and serves where no packet leaves the machine. `make test-bundle` builds one and runs this."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ARCHIVE = os.environ.get("HETERODYNE_BUNDLE", "")
ROOM = Path(__file__).with_name("served_without_a_route.py")
UNSHARE = ("unshare", "--map-root-user", "--net")


@pytest.mark.timeout(900)
@pytest.mark.skipif(not ARCHIVE, reason="HETERODYNE_BUNDLE names no bundle; `make test-bundle` makes one")
def test_a_bundle_installs_and_answers_without_a_route(tmp_path: Path) -> None:
    try:
        allowed = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("unshare is not installed; Debian has it in util-linux")
    if allowed.returncode:
        pytest.skip(f"this machine lets nobody make a network namespace: {allowed.stderr.strip()}")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    [bundle] = tmp_path.iterdir()
    python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    command = [*UNSHARE, str(python), str(ROOM), str(bundle), str(tmp_path / "room")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "embedded a word in 384 numbers" in done.stdout
