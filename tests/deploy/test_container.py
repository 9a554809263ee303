"""The container file, as far as that goes without an engine of containers: what it copies is there, its environment
serves on a root that nobody can write to, and its health check sees that."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

ROOT = Path(__file__).parents[2]
FILE = (ROOT / "deploy" / "container" / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
STAGES = FILE.split("\nFROM ")
STATE = "/var/lib/heterodyne"
# A root without write access, this checkout and a folder for state aside; the process that is run goes on in it.
ON_READ_ONLY_ROOT = 'mount -o remount,bind,ro / && mount --bind "$0" "$0" && mount -o remount,bind,rw "$0" && exec "$@"'


def lines(word: str, text: str = FILE) -> list[str]:
    return re.findall(rf"^{word} +(.+)$", text, re.MULTILINE)


def environment() -> dict[str, str]:
    [line] = lines("ENV")
    return dict(one.split("=", 1) for one in line.split())


def test_what_is_copied_is_there_and_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [source for line in lines("COPY", STAGES[1]) for source in line.split()[:-1]]
    assert "src" in copied
    for source in copied:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in ignored, source


def test_it_runs_as_nobody_in_particular_and_writes_to_one_folder() -> None:
    [user] = lines("USER")
    assert user == "10001:10001"
    assert lines("VOLUME") == [STATE]
    assert {value for name, value in environment().items() if name.startswith("XDG_")} == {
        f"{STATE}/{name}" for name in ("state", "data", "cache")
    }


def test_its_extras_and_its_build_tools_are_those_of_the_project() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [extras] = re.findall(r"whl\)\[([a-z,-]+)\]", FILE)
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras.split(","))


@pytest.fixture
def read_only_root(tmp_path: Path) -> tuple[str, ...]:
    path = shutil.which("unshare")
    launcher = (path or "", "--map-root-user", "--mount", "sh", "-c", ON_READ_ONLY_ROOT, str(tmp_path))
    if path is None:
        pytest.skip("unshare is not installed; Debian has it in util-linux")
    tried = subprocess.run([*launcher, "touch", str(ROOT / "nobody")], capture_output=True, text=True, check=False)
    if "Read-only file system" not in tried.stderr:
        (ROOT / "nobody").unlink(missing_ok=True)
        pytest.skip(f"this machine lets nobody make a mount namespace: {tried.stderr.strip()}")
    return launcher


def test_it_serves_on_a_root_that_nobody_can_write_to(tmp_path: Path, read_only_root: tuple[str, ...]) -> None:
    inside = {name: value.replace(STATE, str(tmp_path / "state")) for name, value in environment().items()}
    inside["TMPDIR"] = str(tmp_path)
    inside["HETERODYNE_GATEWAY__HOST"] = "127.0.0.1"  # a test is for this machine alone
    inside.pop("PATH")
    [health] = lines("HEALTHCHECK")
    check = json.loads(health.partition("CMD ")[2])
    with in_thread(ScriptedEngine(behaviours.answer())) as engine:
        pool = f'[pools.chat]\nmodel = "scripted"\nurls = ["{engine.url}"]\n'
        with ServeProcess(tmp_path, config=pool, environment=inside, launcher=read_only_root) as serve:
            serve.wait_ready(60)
            port = serve.url.rpartition(":")[2]

            def is_healthy() -> bool:
                code = check[2].replace(":8080/", f":{port}/")
                return subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0

            assert (check[0], is_healthy()) == ("python", True)
            assert serve.stop() == 0, serve.log
            assert not is_healthy()
    assert not (ROOT / "nobody").exists()
    assert os.listdir(tmp_path / "state"), "nothing was written to the volume"
