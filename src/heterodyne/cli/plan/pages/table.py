"""Tables whose columns are values, so that a column more is a line more."""

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from heterodyne.cli.plan.pages.element import Markup, element

Row = TypeVar("Row")


class Column(Struct, Generic[Row], frozen=True, kw_only=True):
    """A heading and how a row answers it."""

    heading: str
    cell: Callable[[Row], str]
    is_number: bool = False
    is_long: bool = False  # a sentence: it wants room, and lines
    explanation: str | None = None  # shown when the pointer rests on the heading


def table(caption: str, columns: Sequence[Column[Row]], rows: Iterable[Row]) -> Markup:
    """The first cell of a row names it. Wide tables scroll by themselves, the page does not."""
    head = element("thead", element("tr", *(_heading(column) for column in columns)))
    body = element("tbody", *(element("tr", *_cells(columns, row)) for row in rows))
    drawn = element("table", element("caption", caption), head, body)
    return element("div", drawn, class_="scroll", tabindex="0", role="group", aria_label=caption)


def _heading(column: Column[Row]) -> Markup:
    return element("th", column.heading, scope="col", class_=_kind(column), title=column.explanation)


def _cells(columns: Sequence[Column[Row]], row: Row) -> list[Markup]:
    name, *others = columns
    return [
        element("th", name.cell(row), scope="row"),
        *(element("td", column.cell(row), class_=_kind(column)) for column in others),
    ]


def _kind(column: Column[Row]) -> str | None:
    if column.is_number:
        return "number"
    return "long" if column.is_long else None
