"""Compiles the hot files with mypyc: `python -m compiling.build` in place, `--remove` to run them as Python again."""

import argparse
import hashlib
import os
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
LIST = Path(__file__).with_name("hot_files.txt")
LIBRARY = "heterodyne"  # the shared library is LIBRARY__mypyc; each file becomes a small one that takes its part of it
BUILD = ROOT / "build"
OPTIMISATION = "2"  # at 3 the library is larger and no faster: it is the reading of code that takes the time
QUICK = "0"  # behaves alike, is slower, and takes half the time to make: for tests
# Calls within the library go straight to their targets, not through a table that another library could have changed.
OWN_CALLS = () if sys.platform == "win32" else ("-fvisibility=hidden", "-fno-semantic-interposition", "-fno-plt")


def hot_files() -> tuple[str, ...]:
    """Relative to the package, in the order of the list."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def libraries_of(work: Path, optimisation: str = OPTIMISATION) -> tuple[Path, ...]:
    """Those of the source as it is, under `work / "lib"`: from an earlier call where nothing was changed since."""
    folder, note = work / "lib", work / "made_of"
    source = _digest()
    if not note.is_file() or note.read_text(encoding="ascii") != source:
        shutil.rmtree(work, ignore_errors=True)
        compile_into(folder, work, optimisation)
        note.write_text(source, encoding="ascii")
    return tuple(sorted(folder.rglob("*.so")))


def compile_into(folder: Path, work: Path, optimisation: str) -> None:
    """Put the libraries into `folder`, beside packages of the same names; raises SystemExit with mypyc's words."""
    from mypyc.build import mypycify  # noqa: PLC0415 - only where something is compiled
    from setuptools import Distribution  # noqa: PLC0415
    from setuptools.command.build_ext import build_ext  # noqa: PLC0415

    os.chdir(ROOT)  # names of files stand in tracebacks
    paths = [f"src/heterodyne/{file}" for file in hot_files()]
    modules = mypycify(
        ["--config-file", "pyproject.toml", *paths],
        opt_level=optimisation,
        debug_level="0" if optimisation == QUICK else "1",  # a sixth of what the C compiler takes, and tests read none
        group_name=LIBRARY,
        target_dir=str(work / "c"),
    )
    for module in modules:
        module.extra_compile_args += OWN_CALLS
    build = build_ext(Distribution({"name": LIBRARY, "ext_modules": modules}))
    build.build_lib, build.build_temp = str(folder), str(work / "o")
    build.parallel = os.cpu_count()
    build.ensure_finalized()
    build.run()


def libraries() -> tuple[Path, ...]:
    """Those that lie in the source tree now."""
    return (*SOURCE.glob(f"{LIBRARY}__mypyc*.so"), *(SOURCE / "heterodyne").rglob("*.so"))


def stale() -> tuple[str, ...]:
    """Hot files that were changed after they were compiled: what runs is not what they say."""
    shared = [library for library in libraries() if library.parent == SOURCE]
    if not shared:
        return ()
    made_at = shared[0].stat().st_mtime
    return tuple(file for file in hot_files() if (SOURCE / "heterodyne" / file).stat().st_mtime > made_at)


def remove() -> int:
    """Have every file run as Python again; how many libraries there were."""
    found = libraries()
    for library in found:
        library.unlink()
    return len(found)


def main() -> None:
    """In place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--remove", action="store_true", help="run every file as Python again")
    parser.add_argument("--quick", action="store_true", help="without optimisation, in half the time: for tests")
    parser.add_argument("--apart", action="store_true", help="into build/ alone: the next call puts them in place")
    options = parser.parse_args()
    if options.remove:
        print(f"{remove()} libraries removed: every file runs as Python")
        return
    if shutil.which(os.environ.get("CC", "cc")) is None:
        sys.exit("There is no C compiler here (cc). Heterodyne runs without: nothing has to be compiled.")
    started_s = time.monotonic()
    work, optimisation = (BUILD / "quick", QUICK) if options.quick else (BUILD / "compiled", OPTIMISATION)
    found = libraries_of(work, optimisation)
    if not options.apart:
        remove()  # of files that are no longer in the list too
        for library in found:
            shutil.copy(library, SOURCE / library.relative_to(work / "lib"))
    print(f"{len(hot_files())} files compiled in {time.monotonic() - started_s:.0f} s")


def _digest() -> str:
    """Of every file of the package, for constants of others are compiled in, and of what compiles them."""
    digest = hashlib.sha256(f"{sys.version} {sys.platform}".encode())
    for path in (*sorted((SOURCE / "heterodyne").rglob("*.py")), LIST, Path(__file__), ROOT / "pyproject.toml"):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    main()
