"""The wheel holds all that an installed Heterodyne needs."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from heterodyne import __version__

REPOSITORY = Path(__file__).parents[2]
STATIC = REPOSITORY / "src" / "heterodyne" / "console" / "static"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(REPOSITORY)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    if "Could not find a version" in done.stderr:
        pytest.skip("the build backend cannot be fetched here")
    assert done.returncode == 0, done.stderr
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment with the wheel; what it depends on is borrowed from this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    where = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip())
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", str(wheel)]
    subprocess.run(install, check=True)
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def run(program: Path, *arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HETERODYNE"))}
    return subprocess.run(
        [str(program), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_wheel_carries_templates_types_and_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "heterodyne/py.typed" in names
    assert "heterodyne/fleet/templates/chatml_tools.jinja" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    pages = {str(file.relative_to(REPOSITORY / "src")) for file in STATIC.rglob("*") if file.is_file()}
    assert pages
    assert pages <= set(names), "the console's pages"
    assert not [name for name in names if name.startswith("tests") or name.endswith(".pyc")]


def test_an_installed_heterodyne_is_its_own_and_says_its_version(python: Path, tmp_path: Path) -> None:
    where = run(python, "-c", "import heterodyne; print(heterodyne.__file__)", folder=tmp_path)
    assert where.stdout.startswith(str(python.parents[1])), where.stdout + where.stderr
    assert __version__ in run(python, "-m", "heterodyne", "--version", folder=tmp_path).stdout
    assert __version__ in run(python.parent / "heterodyne", "--version", folder=tmp_path).stdout


def test_an_installed_heterodyne_checks_its_default_settings(python: Path, tmp_path: Path) -> None:
    checked = run(python, "-m", "heterodyne", "config", "check", folder=tmp_path)
    assert checked.returncode == 0, checked.stderr
