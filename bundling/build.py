"""`make bundle`: wheels for one Python and platform, weights, the source, checksums and an install script as one file.

python -m bundling.build --python 3.12 --platform linux-x86_64 --extras postgres,redis
"""

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bundling.install import REQUIREMENTS, SUMS, WEIGHTS, WHEELS, sha256_of
from bundling.platforms import PLATFORMS, tags
from heterodyne import __version__
from heterodyne.registry.defaults import DEFAULT_POOLS

ROOT = Path(__file__).parents[1]
PYPI = "pypi:"
ONLY_WHEELS = ("--only-binary", ":all:", "--disable-pip-version-check", "--quiet")


def main() -> None:
    """Read the words, pack, say where it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", default="", help="such as 3.12; this one's where nothing is said")
    parser.add_argument("--platform", default="", choices=("", *PLATFORMS), help="this machine's where nothing is said")
    parser.add_argument("--extras", default="", help="of heterodyne, with commas: postgres,redis")
    parser.add_argument("--wheel", type=Path, default=None, help="heterodyne's own, where it was built elsewhere")
    parser.add_argument("--tests", action="store_true", help="also what `make test` installs")
    parser.add_argument("--outdir", type=Path, default=Path("dist"))
    options = parser.parse_args()
    target = target_words(options.python, options.platform)
    name = "-".join(("heterodyne", __version__, *filter(None, (options.python, options.platform))))
    with tempfile.TemporaryDirectory() as scratch:
        bundle = Path(scratch) / name
        collect(bundle, target, options.extras, options.wheel, with_tests=options.tests)
        options.outdir.mkdir(parents=True, exist_ok=True)
        archive = options.outdir / f"{name}.tar"
        pack(bundle, archive)
    print(f"{archive}: {archive.stat().st_size / 1e6:.0f} MB; there: tar -xf, then python3 {name}/install.py FOLDER")


def target_words(python: str, platform: str) -> list[str]:
    """What pip is told about the machine that installs."""
    words = ["--python-version", python] if python else []
    return words + [word for tag in (tags(platform) if platform else ()) for word in ("--platform", tag)]


def collect(bundle: Path, target: Sequence[str], extras: str, wheel: Path | None, *, with_tests: bool) -> None:
    """All files of a bundle in their places."""
    wheels, weights = bundle / WHEELS, bundle / WEIGHTS
    wheels.mkdir(parents=True)
    if wheel is None:
        pip("wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(ROOT))
    else:
        shutil.copy(wheel, wheels)
    [own] = wheels.glob("heterodyne-*.whl")
    wanted = [f"{own}[{extras}]" if extras else str(own)]
    groups = ["--group", f"{ROOT / 'pyproject.toml'}:test"] if with_tests else []
    pip("download", *ONLY_WHEELS, *target, "--dest", str(wheels), *wanted, *groups)
    for requirement in weights_of_defaults():
        pip("download", *ONLY_WHEELS, "--no-deps", "--dest", str(weights), requirement)
    (bundle / REQUIREMENTS).write_text(requirements(extras, wheels, with_tests=with_tests), encoding="utf-8")
    source = bundle / "source" / f"heterodyne-{__version__}.tar.gz"
    source.parent.mkdir()
    git = ["git", "archive", "--format=tar.gz", f"--prefix=heterodyne-{__version__}/", f"--output={source}", "HEAD"]
    subprocess.run(git, cwd=ROOT, check=True)  # noqa: S603  # our own words; the caller's git
    shutil.copy(ROOT / "bundling" / "install.py", bundle)
    write_sums(bundle)


def weights_of_defaults() -> list[str]:
    """The wheels that hold what is served where settings declare no pool."""
    references = [pool.weights or "" for pool in DEFAULT_POOLS.values()]
    return [one.removeprefix(PYPI).partition("!")[0] for one in references if one.startswith(PYPI)]


def requirements(extras: str, wheels: Path, *, with_tests: bool) -> str:
    """What is installed; with the tests, everything that was packed."""
    own = f"heterodyne[{extras}]=={__version__}\n" if extras else f"heterodyne=={__version__}\n"
    packed = (wheel.name.split("-")[:2] for wheel in sorted(wheels.glob("*.whl")))
    return own + ("".join(f"{name}=={version}\n" for name, version in packed) if with_tests else "")


def write_sums(bundle: Path) -> None:
    """In the words of sha256sum, which can check them too."""
    files = sorted(path for path in bundle.rglob("*") if path.is_file() and path.name != SUMS)
    lines = [f"{sha256_of(path)}  {path.relative_to(bundle).as_posix()}\n" for path in files]
    (bundle / SUMS).write_text("".join(lines), encoding="utf-8")


def pack(bundle: Path, archive: Path) -> None:
    """Without compression: wheels have theirs, and weights have nothing to gain."""
    with tarfile.open(archive, "w") as tar:
        tar.add(bundle, arcname=bundle.name)


def pip(*words: str) -> None:
    """Raises CalledProcessError where it fails; it says why itself."""
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)  # noqa: S603  # our own words


if __name__ == "__main__":
    main()
