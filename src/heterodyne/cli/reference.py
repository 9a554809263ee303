"""Writes docs/reference: settings, errors, commands, metrics and the API, each from the code that defines it.

Run as `python -m heterodyne.cli.reference DIR`, or `make docs`.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from heterodyne.cli.reference_pages import commands, description, errors, metrics, settings

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


def main() -> None:
    """The command line of this module."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m heterodyne.cli.reference DIR")
    for path in write(Path(sys.argv[1])):
        print(path)


if __name__ == "__main__":
    main()
