"""Results on stdout: JSON for machines, aligned columns for people."""

from collections.abc import Sequence

import click
import msgspec


def print_json(value: object) -> None:
    """A result as indented JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A result as columns wide enough for their longest cell."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    for row in (header, *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def bytes_in_words(count: int) -> str:
    """A size as people say it, for example `98.0 MB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def gib_in_words(count: float) -> str:
    """A size of memory in the unit its makers build it in, for example `79.18 GiB`."""
    return f"{count / 2**30:.2f} GiB"
