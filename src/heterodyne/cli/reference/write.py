"""Writes docs/reference (settings, errors, commands, metrics, the API) and the sample output in docs/guides.

Run as `python -m heterodyne.cli.reference.write DOCS`, or `make docs`.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from heterodyne.cli.reference import commands, errors, examples, settings
from heterodyne.cli.reference.markdown import code, table
from heterodyne.gateway.openapi import document
from heterodyne.telemetry.metrics import ALL

METRICS_INTRODUCTION = """\
# Metrics

`GET /metrics` on the gateway's port answers them in the Prometheus text format. Labels come from small closed sets."""


def metrics_page() -> str:
    """One row per metric, in the order they are declared in `telemetry/metrics.py`."""
    rows = ((code(one.name), one.kind, ", ".join(map(code, one.labels)) or "–", one.help) for one in ALL)
    return METRICS_INTRODUCTION + "\n\n" + table(("Name", "Kind", "Labels", "Meaning"), rows)


def openapi_page() -> str:
    """The OpenAPI description as the gateway serves it at /openapi.json, indented for people and for diffs."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=2).decode()


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings.page,
    "errors.md": errors.page,
    "cli.md": commands.page,
    "metrics.md": metrics_page,
    "openapi.json": openapi_page,
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
