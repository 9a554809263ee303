"""Writes docs/reference (settings, errors, commands, metrics, the API) and the sample output in docs/guides.

Run as `python -m heterodyne.cli.reference.write DOCS`, or `make docs`.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from heterodyne.cli.reference import commands, description, errors, examples, metrics, settings

PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings.page,
    "errors.md": errors.page,
    "cli.md": commands.page,
    "metrics.md": metrics.page,
    "openapi.json": description.page,
}
NOTICE = "<!-- Written by `make docs`; change the code it describes instead. -->"


def write(folder: Path) -> tuple[Path, ...]:
    """Write every page into a folder; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, page in PAGES.items():
        path = folder / name
        notice = f"{NOTICE}\n\n" if path.suffix == ".md" else ""  # JSON has no comments
        path.write_text(f"{notice}{page().strip()}\n", encoding="utf-8")
        written.append(path)
    return tuple(written)


def refresh(folder: Path) -> tuple[Path, ...]:
    """Run the commands of the guides in a folder again; return the paths of the guides."""
    paths = tuple(folder / name for name in examples.GUIDES)
    for path in paths:
        path.write_text(examples.refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
    return paths


def main() -> None:
    """The command line of this module."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m heterodyne.cli.reference.write DOCS")
    docs = Path(sys.argv[1])
    for path in (*write(docs / "reference"), *refresh(docs / "guides")):
        print(path)


if __name__ == "__main__":
    main()
