"""Marks that tell kinds of points apart by shape and by colour, so that neither is needed alone."""

from enum import StrEnum
from math import cos, pi, sin

from msgspec import Struct

from heterodyne.cli.plan.pages.element import Markup, element
from heterodyne.cli.plan.pages.tone import Tone


class MarkShape(StrEnum):
    """The outline of a mark."""

    CIRCLE = "circle"
    SQUARE = "square"
    TRIANGLE = "triangle"
    DIAMOND = "diamond"
    INVERTED = "inverted"
    PENTAGON = "pentagon"
    STAR = "star"
    CROSS = "cross"


class Mark(Struct, frozen=True):
    """How the points of one kind look."""

    name: str
    shape: MarkShape
    tone: Tone


def draw_mark(mark: Mark, x: float, y: float, *, radius: float, is_faint: bool = False) -> Markup:
    """A mark around a point."""
    looks = f"mark {mark.tone} faint" if is_faint else f"mark {mark.tone}"
    if mark.shape is MarkShape.CIRCLE:
        return element("circle", cx=float(x), cy=float(y), r=float(radius), class_=looks)
    corners = " ".join(f"{x + radius * dx:.1f},{y + radius * dy:.1f}" for dx, dy in CORNERS[mark.shape])
    return element("polygon", points=corners, class_=looks)


def legend(marks: list[Mark]) -> Markup:
    """The names of the marks in use."""
    return element("ul", *(element("li", _sample(mark), mark.name) for mark in marks), class_="legend")


def _sample(mark: Mark) -> Markup:
    return element("svg", draw_mark(mark, 8, 8, radius=6), viewBox="0 0 16 16", aria_hidden="true")


def _ring(corners: int, *, turn: float = 0.0, inner: float | None = None) -> list[tuple[float, float]]:
    """Corners of a regular figure around zero, the first on top; with `inner` a star."""
    radii = (1.2,) if inner is None else (1.25, inner)
    count = corners * len(radii)
    angles = [2 * pi * (place / count) + turn - pi / 2 for place in range(count)]
    return [
        (radii[place % len(radii)] * cos(angle), radii[place % len(radii)] * sin(angle))
        for place, angle in enumerate(angles)
    ]


_ARM = 0.38
CORNERS: dict[MarkShape, list[tuple[float, float]]] = {
    MarkShape.SQUARE: [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    MarkShape.TRIANGLE: _ring(3),
    MarkShape.DIAMOND: _ring(4),
    MarkShape.INVERTED: _ring(3, turn=pi),
    MarkShape.PENTAGON: _ring(5),
    MarkShape.STAR: _ring(5, inner=0.55),
    MarkShape.CROSS: [
        *((-_ARM, -1.1), (_ARM, -1.1), (_ARM, -_ARM), (1.1, -_ARM), (1.1, _ARM), (_ARM, _ARM)),
        *((_ARM, 1.1), (-_ARM, 1.1), (-_ARM, _ARM), (-1.1, _ARM), (-1.1, -_ARM), (-_ARM, -_ARM)),
    ],
}


OTHERS = Mark("others", MarkShape.CROSS, Tone.GREY)
MARKS = {
    "nvidia": Mark("NVIDIA", MarkShape.CIRCLE, Tone.GREEN),
    "amd": Mark("AMD", MarkShape.SQUARE, Tone.ORANGE),
    "google": Mark("Google", MarkShape.TRIANGLE, Tone.BLUE),
    "intel": Mark("Intel", MarkShape.DIAMOND, Tone.TEAL),
    "aws": Mark("AWS", MarkShape.INVERTED, Tone.PURPLE),
    "apple": Mark("Apple", MarkShape.PENTAGON, Tone.BROWN),
    "arm": Mark("Arm", MarkShape.STAR, Tone.PINK),
}


def vendor_mark(vendor: str) -> Mark:
    """Makers we have no mark for share one."""
    return MARKS.get(vendor, OTHERS)
