"""Installs this bundle without a network: `python3 install.py FOLDER`. Standard library only.

Every file is compared with SHA256SUMS before any of them is used; one that is damaged, missing or not listed ends it.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

SUMS = "SHA256SUMS"
WHEELS, WEIGHTS = "wheels", "weights"
REQUIREMENTS = "requirements.txt"
PIECE_BYTES = 1 << 20


def main() -> int:
    """0: installed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="the virtual environment to make, where nothing is yet")
    parser.add_argument("--check", action="store_true", help="compare the files, and install nothing")
    options = parser.parse_args()
    bundle = Path(__file__).resolve().parent
    wrong = list(problems(bundle))
    for problem in wrong:
        print(f"install.py: {problem}", file=sys.stderr)
    if wrong:
        print("install.py: nothing was installed; bring the bundle here again.", file=sys.stderr)
        return 1
    if options.check:
        print("Every file is as it was packed.")
        return 0
    if options.folder is None:
        parser.error("which folder? e.g. python3 install.py ~/heterodyne")
    return install(bundle, options.folder.absolute())


def problems(bundle: Path) -> Iterator[str]:
    """What is not as it was packed."""
    listed: dict[str, str] = {}
    for line in (bundle / SUMS).read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        listed[name] = digest
    found = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()} - {SUMS}
    for name in sorted(listed.keys() - found):
        yield f"{name} is missing"
    for name in sorted(found - listed.keys()):
        if not name.startswith("__pycache__/"):  # of this script, where it was imported
            yield f"{name} is not listed in {SUMS}"
    for name in sorted(listed.keys() & found):
        if sha256_of(bundle / name) != listed[name]:
            yield f"{name} is damaged: its SHA-256 is not the one in {SUMS}"


def sha256_of(path: Path) -> str:
    """Read piece by piece: weights are large."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def install(bundle: Path, folder: Path) -> int:
    """Make the environment; its pip takes wheels from the bundle's copies alone, also later."""
    if folder.exists():
        print(f"install.py: {folder} is there already; name another folder, or remove it.", file=sys.stderr)
        return 1
    venv.create(folder, with_pip=False, symlinks=True)  # pip comes out of the bundle: Debian's Python has none for it
    python = folder / "bin" / "python"
    kept = folder / "share" / "heterodyne"
    shutil.copytree(bundle / WEIGHTS, kept / WEIGHTS)
    (folder / "pip.conf").write_text(f"[global]\nno-index = true\nfind-links = {kept / WEIGHTS}\n", encoding="utf-8")
    [pip] = (bundle / WHEELS).glob("pip-*.whl")
    words = [str(python), f"{pip}/pip", "install", "--quiet", "--no-index", "--find-links", str(bundle / WHEELS)]
    words += ["--disable-pip-version-check", "--no-cache-dir", "--requirement", str(bundle / REQUIREMENTS)]
    done = subprocess.run(words, check=False)  # noqa: S603  # our own words
    if done.returncode:
        shutil.rmtree(folder)
        print("install.py: pip could not install it; is this the Python the bundle is for?", file=sys.stderr)
        return 1
    print(f"Installed. Serve with {folder / 'bin' / 'heterodyne'} serve")
    return 0


if __name__ == "__main__":
    sys.exit(main())
