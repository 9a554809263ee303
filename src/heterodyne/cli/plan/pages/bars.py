"""Bars whose lengths follow the width of the page and whose letters do not."""

from collections.abc import Sequence

from msgspec import Struct

from heterodyne.cli.plan.pages.element import Markup, element
from heterodyne.cli.plan.pages.tone import Tone

LETTER_WIDTH = 8.0  # of a bold letter, taken wide
NARROW = 330.0  # px a bar has on a telephone: what fits there fits everywhere
COLUMNS_TALL = 150.0


class BarSegment(Struct, frozen=True, kw_only=True):
    """A part of a bar."""

    name: str
    share: float  # of the whole bar, 0 to 1
    tone: Tone
    tooltip: str


def stacked_bar(segments: Sequence[BarSegment], *, name: str, height: float = 34.0, is_named: bool = True) -> Markup:
    """Parts one after the other; those wide enough carry their name. What shares leave of 1 stays empty."""
    parts, start = [], 0.0
    for segment in segments:
        if segment.share > 0:
            parts.append(_segment(segment, start, height, is_named=is_named))
            start += segment.share
    description = "; ".join(segment.tooltip for segment in segments if segment.share > 0)
    return element(
        "svg",
        element("title", name),
        *parts,
        height=height,
        role="img",
        aria_label=f"{name}: {description}" if description else name,
    )


def columns(values: Sequence[float], *, names: Sequence[str], tooltips: Sequence[str], name: str) -> Markup:
    """Upright bars from one base line, every third named."""
    most, width = max(values) or 1.0, 100 / len(values)
    drawn = []
    for place, value in enumerate(values):
        tall = value / most * (COLUMNS_TALL - 24)
        drawn.append(
            element(
                "rect",
                element("title", tooltips[place]),
                x=_percent(width * (place + 0.1)),
                y=COLUMNS_TALL - 20 - tall,
                width=_percent(width * 0.8),
                height=tall,
                class_=Tone.BLUE,
            )
        )
        if place % 3 == 0:
            middle = _percent(width * (place + 0.5))
            drawn.append(
                element("text", names[place], x=middle, y=COLUMNS_TALL - 4, text_anchor="middle", class_="soft")
            )
    base = element("line", x1="0", x2="100%", y1=COLUMNS_TALL - 20, y2=COLUMNS_TALL - 20, class_="axis")
    return element("svg", element("title", name), *drawn, base, height=COLUMNS_TALL, role="img", aria_label=name)


def swatch(tone: Tone, name: str) -> Markup:
    """A name with the colour it has in a bar."""
    return element("span", element("span", class_=f"swatch {tone}", aria_hidden="true"), name)


def _segment(segment: BarSegment, start: float, height: float, *, is_named: bool) -> Markup:
    box = element(
        "rect",
        x=_percent(start * 100),
        width=_percent(segment.share * 100),
        height=height,
        class_=f"mark {segment.tone}",
    )
    parts = [element("title", segment.tooltip), box]
    if is_named and len(segment.name) * LETTER_WIDTH <= segment.share * NARROW:
        middle = _percent((start + segment.share / 2) * 100)
        parts.append(element("text", segment.name, x=middle, y=height / 2 + 4.5, text_anchor="middle", class_="inside"))
    return element("g", *parts)


def _percent(number: float) -> str:
    return f"{number:.3f}%"
