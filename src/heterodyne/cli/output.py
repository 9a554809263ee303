"""Results on stdout: JSON for machines, aligned columns for people."""

import os
import shutil
import sys
from collections.abc import Sequence

import click
import msgspec

from heterodyne.cli.columns import laid_out

COLOURS = {  # of cells that begin with the word
    **dict.fromkeys(("ready", "works", "enabled", "chosen", "keeps", "yes", "within", "completed"), "green"),
    **dict.fromkeys(("starting", "draining", "drained", "expired", "replaced", "probably", "backup"), "yellow"),
    **dict.fromkeys(("down", "disabled", "revoked", "misses", "excluded", "lacking"), "red"),
}


def print_json(value: object) -> None:
    """A result as indented JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A result as columns: no wider than the screen, in colour where there is one, a line a row in a pipe."""
    head, *body = laid_out(header, rows, screen_columns(), _paint)
    for line in head:
        click.echo(click.style(line, bold=True))
    for line in (line for lines in body for line in lines):
        click.echo(line)


def screen_columns() -> int | None:
    """The width of the screen, or COLUMNS; None in a pipe, where programs want a line a row."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _paint(cell: str, line: str) -> str:
    """click takes it away again in a pipe, or where NO_COLOR is set."""
    colour = COLOURS.get(cell.partition(" ")[0])
    return line if colour is None or not line.strip() else click.style(line, fg=colour)


def bytes_in_words(count: int) -> str:
    """A size for people, for example `98.0 MB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def gib_in_words(count: float) -> str:
    """A size of memory in the unit its makers build it in, for example `79.18 GiB`."""
    return f"{count / 2**30:.2f} GiB"
