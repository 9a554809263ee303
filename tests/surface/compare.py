"""What users see, at an old commit and now: `make surface OLD=<commit>` prints the differences.

Both are checked out into temporary folders and asked by their own commands: settings, metrics, errors, help of every
command, headers, both APIs, alert rules, dashboards. Exits with 1 where anything but component names differs.
"""

import argparse
import difflib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.surface.snapshot import Lines, snapshot

ROOT = Path(__file__).parents[2]
NAMES_APART = "component names"


def main() -> int:
    """The command line of this module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", help="the commit before")
    parser.add_argument("new", nargs="?", default="HEAD", help="the commit after")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heterodyne-surface-") as folder:
        old = _taken(arguments.old, Path(folder) / "old")
        new = _taken(arguments.new, Path(folder) / "new")
    found = differences(old, new)
    for name, lines in found.items():
        print(f"== {name}", *lines, sep="\n")
    same = sorted((old.keys() | new.keys()) - found.keys())
    print(f"== the same ({len(same)})", *same, sep="\n")
    return int(any(NAMES_APART not in name for name in found))


def differences(old: dict[str, Lines], new: dict[str, Lines]) -> dict[str, list[str]]:
    """Name of a surface to the lines that went (-) and came (+)."""
    found = {}
    for name in sorted(old.keys() | new.keys()):
        diff = difflib.unified_diff(old.get(name, ()), new.get(name, ()), "old", "new", lineterm="", n=0)
        if changed := [line for line in diff if not line.startswith(("---", "+++", "@@"))]:
            found[name] = changed
    return found


def _taken(commit: str, folder: Path) -> dict[str, Lines]:
    tree, state = folder / "tree", folder / "state"
    tree.mkdir(parents=True)
    state.mkdir()
    with subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE) as archive:
        assert archive.stdout is not None
        with tarfile.open(fileobj=archive.stdout, mode="r|") as files:
            files.extractall(tree, filter="data")
    if archive.returncode:
        raise SystemExit(f"{commit}: no such commit")
    print(f"looking at {commit} ...", file=sys.stderr)
    return snapshot(tree, state)


if __name__ == "__main__":
    sys.exit(main())
