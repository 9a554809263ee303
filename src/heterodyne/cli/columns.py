"""Columns for people: as wide as their cells, and where that is too wide for the screen, wrapped within themselves.

Nothing is cut: a row becomes several lines, broken between words where that is enough and within them where it is not.
Columns give way in the order in which that makes the table least longer, so headings go before rows and numbers last.
What has more columns than a screen has room for is shown as records, a line for each cell.
"""

import re
from collections.abc import Callable, Sequence

GAPS = (2, 1)  # between columns: one where two would make the table longer
WIDTH_MIN = 6  # of a column; below it nothing can be read
ROWS_WEIGHED = 60  # so many rows decide how wide the columns become
BREAK = re.compile(r"(?<=\w[/_=,:.-])(?=[A-Za-z])")  # a word of several may be broken there; a number never is

NUMBER = re.compile(r"[-+$(]*\d[\d.,%()-]*")

Row = Sequence[str]
Paint = Callable[[str, str], str]  # a cell, and a line of it with its padding, to that line in colour


def laid_out(header: Row, rows: Sequence[Row], width: int | None, paint: Paint) -> list[list[str]]:
    """The lines of the header and of each row; `width` None: as wide as they get."""
    table = [header, *rows]
    natural = [max(len(row[column]) for row in table) for column in range(len(header))]
    gap, widths = GAPS[0], natural
    if width is not None:
        tried = [(gap, _narrowed(table, natural, width - gap * (len(header) - 1))) for gap in GAPS]
        fitting = [(gap, widths) for gap, widths in tried if sum(widths) + gap * (len(header) - 1) <= width]
        if not fitting:
            return [[], *(_record(header, row, width) for row in rows)]
        gap, widths = min(fitting, key=lambda one: (_height(table[:ROWS_WEIGHED], one[1]), -one[0]))
    return [_lines(row, widths, " " * gap, paint) for row in table]


def _narrowed(table: Sequence[Row], natural: list[int], room: int) -> list[int]:
    """Down to the longest word of each column; where that is still too wide, down to its longest number."""
    widths, weighed = list(natural), table[:ROWS_WEIGHED]
    words, numbers = _longest(table, lambda _: True), _longest(table, lambda part: bool(NUMBER.fullmatch(part)))
    for least in (words, [max(WIDTH_MIN, number) for number in numbers]):
        while sum(widths) > room and (able := [one for one, width in enumerate(widths) if width > least[one]]):
            column = min(able, key=lambda one: (_height(weighed, _less(widths, one)), -widths[one]))
            widths[column] = _used(table, column, widths[column] - 1)
    return widths


def _less(widths: list[int], column: int) -> list[int]:
    return [width - (one == column) for one, width in enumerate(widths)]


def _used(table: Sequence[Row], column: int, width: int) -> int:
    """What a column of that width takes once its cells are wrapped, which may be less."""
    return max(len(line) for row in table for line in _wrapped(row[column], width))


def _height(table: Sequence[Row], widths: list[int]) -> int:
    return sum(max(len(_wrapped(cell, width)) for cell, width in zip(row, widths, strict=True)) for row in table)


def _longest(table: Sequence[Row], counts: Callable[[str], bool]) -> list[int]:
    """Of each column, the longest part of a cell that counts."""
    parts = (
        [part for row in table for word in row[column].split() for part in BREAK.split(word)]
        for column in range(len(table[0]))
    )
    return [max((len(part) for part in some if counts(part)), default=0) for some in parts]


def _record(header: Row, row: Row, width: int) -> list[str]:
    """A line for each cell under its name, and an empty one."""
    names = min(max(map(len, header)), width // 2)
    return [
        line.rstrip()
        for name, cell in zip(header, row, strict=True)
        for line in _lines((name, cell), [names, max(1, width - names - 1)], " ", lambda _, line: line)
    ] + [""]


def _lines(row: Row, widths: list[int], gap: str, paint: Paint) -> list[str]:
    columns = [(cell, _wrapped(cell, width), width) for cell, width in zip(row, widths, strict=True)]
    return [
        gap.join(
            paint(cell, (lines[number] if number < len(lines) else "").ljust(width)) for cell, lines, width in columns
        ).rstrip()
        for number in range(max(len(lines) for _, lines, _ in columns))
    ]


def _wrapped(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    lines, line = [], ""
    for word in cell.split():
        for index, part in enumerate(BREAK.split(word)):
            gap = " " if line and index == 0 else ""
            if line and len(line) + len(gap) + len(part) > width:
                lines.append(line)
                line, gap = "", ""
            line += gap + part
            while len(line) > width:
                lines.append(line[:width])
                line = line[width:]
    return [*lines, line] if line else lines
