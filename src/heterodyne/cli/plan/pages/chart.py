"""A scatter of two things of which less is better, with the frontier of those that nothing beats in both."""

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct, structs

from heterodyne.cli.plan.pages.element import Markup, element, joined
from heterodyne.cli.plan.pages.label import HEIGHT, Box, Label, Spot, place_labels
from heterodyne.cli.plan.pages.mark import Mark, draw_mark
from heterodyne.cli.plan.pages.scale import AxisScale, scale_for, tick_text

WIDTH, TALL = 500.0, 430.0
PLOT = Box(52.0, 28.0, 490.0, 374.0)
RADIUS, FAINT_RADIUS = 5.5, 3.5
TARGET_SHOWN_UP_TO = 2.0  # times the greatest value; a target further away would squeeze the points

Corner = tuple[float, float]


class ChartPoint(Struct, frozen=True, kw_only=True):
    """One thing on the chart."""

    name: str
    x: float
    y: float
    mark: Mark
    tooltip: str
    is_faint: bool = False  # drawn small and without a name, unless it is on the frontier


class Axis(Struct, frozen=True, kw_only=True):
    """What one direction means."""

    name: str
    target: float | None = None  # not to be exceeded
    target_words: str = ""


def chart(points: Sequence[ChartPoint], *, name: str, description: str, x: Axis, y: Axis) -> Markup:
    """At least one point, all above zero."""
    across = scale_for(_shown(x, [point.x for point in points]), start=PLOT.left, end=PLOT.right)
    up = scale_for(_shown(y, [point.y for point in points]), start=PLOT.bottom, end=PLOT.top)
    first = frontier(points)
    others = [point for point in points if point not in first]
    best = [structs.replace(point, is_faint=False) for point in first]
    steps = _steps([(across.place(point.x), up.place(point.y)) for point in best])
    return element(
        "svg",
        element("title", name),
        element("desc", description),
        _grid(across, up),
        _names(x, y, across, up),
        _target(x, across),
        _line(steps),
        *(_draw(point, across, up) for point in sorted((*others, *best), key=lambda point: not point.is_faint)),
        *(_label(label) for label in _labels(best, others, across, up, steps)),
        viewBox=f"0 0 {WIDTH:.0f} {TALL:.0f}",
        class_="chart",
        role="img",
        aria_label=f"{name}. {description}",
    )


def frontier(points: Sequence[ChartPoint]) -> list[ChartPoint]:
    """Those for which no other is at least as good in both, from the left to the right."""
    best: list[ChartPoint] = []
    for point in sorted(points, key=lambda point: (point.x, point.y)):
        if not best or point.y < best[-1].y:
            best.append(point)
    return best


def _shown(axis: Axis, values: list[float]) -> list[float]:
    if axis.target is not None and axis.target <= max(values) * TARGET_SHOWN_UP_TO:
        return [*values, axis.target]
    return values


def _steps(best: Sequence[Corner]) -> list[Corner]:
    """The corners of the line: between two of the best nothing is known that beats the worse of both."""
    corners: list[Corner] = []
    for x, y in best:
        corners += [(x, corners[-1][1] if corners else PLOT.top), (x, y)]
    return [*corners, (PLOT.right, corners[-1][1])] if corners else []


def _grid(across: AxisScale, up: AxisScale) -> Markup:
    lines = []
    for value in across.ticks():
        x = across.place(value)
        lines.append(element("line", x1=x, x2=x, y1=PLOT.top, y2=PLOT.bottom, class_="grid"))
        lines.append(element("text", tick_text(value), x=x, y=PLOT.bottom + 19, text_anchor="middle", class_="soft"))
    for value in up.ticks():
        y = up.place(value)
        lines.append(element("line", x1=PLOT.left, x2=PLOT.right, y1=y, y2=y, class_="grid"))
        lines.append(element("text", tick_text(value), x=PLOT.left - 7, y=y + 5, text_anchor="end", class_="soft"))
    corner = f"M{PLOT.left:.0f} {PLOT.top:.0f}V{PLOT.bottom:.0f}H{PLOT.right:.0f}"
    return joined((*lines, element("path", d=corner, fill="none", class_="axis")))


def _names(x: Axis, y: Axis, across: AxisScale, up: AxisScale) -> Markup:
    middle = (PLOT.left + PLOT.right) / 2
    across_name = element("text", _axis_name(x, across), x=middle, y=TALL - 12, text_anchor="middle")
    return joined((across_name, element("text", _axis_name(y, up), x=6.0, y=16.0)))


def _axis_name(axis: Axis, scale: AxisScale) -> str:
    return f"{axis.name} (log scale)" if scale.is_logarithmic else axis.name


def _target(axis: Axis, scale: AxisScale) -> Markup:
    """Every point keeps the target, so its line is right of them all and its words have room to the left."""
    if axis.target is None or axis.target > scale.high:
        return Markup()
    x = scale.place(axis.target)
    line = element("line", x1=x, x2=x, y1=PLOT.top, y2=PLOT.bottom, class_="target")
    words = element("text", axis.target_words, x=x, y=16.0, text_anchor="end", class_="target")
    return joined((line, words))


def _line(steps: Sequence[Corner]) -> Markup:
    if not steps:
        return Markup()
    return element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in steps), class_="frontier")


def _draw(point: ChartPoint, across: AxisScale, up: AxisScale) -> Markup:
    x, y = across.place(point.x), up.place(point.y)
    mark = draw_mark(point.mark, x, y, radius=_radius(point), is_faint=point.is_faint)
    return element("g", element("title", point.tooltip), mark)


def _radius(point: ChartPoint) -> float:
    return FAINT_RADIUS if point.is_faint else RADIUS


def _labels(
    best: Sequence[ChartPoint], others: Sequence[ChartPoint], across: AxisScale, up: AxisScale, steps: Sequence[Corner]
) -> list[Label]:
    """The best get their names first, the cheapest of all foremost; none on a mark or on the frontier's line."""
    named = [*reversed(best), *sorted((one for one in others if not one.is_faint), key=lambda one: one.y)]
    spots = [Spot(text=one.name, x=across.place(one.x), y=up.place(one.y), radius=RADIUS) for one in named]
    marks = [_around(across.place(one.x), up.place(one.y), _radius(one)) for one in (*best, *others)]
    lines = [_along(start, end) for start, end in pairwise(steps)]
    return place_labels(spots, inside=PLOT, taken=[*marks, *lines])


def _around(x: float, y: float, radius: float) -> Box:
    return Box(x - radius, y - radius, x + radius, y + radius)


def _along(start: Corner, end: Corner) -> Box:
    (x1, y1), (x2, y2) = start, end
    return Box(min(x1, x2) - 1, min(y1, y2) - 1, max(x1, x2) + 1, max(y1, y2) + 1)


def _label(label: Label) -> Markup:
    box = label.box
    middle = (box.left + box.right) / 2
    text = element("text", label.text, x=middle, y=box.bottom - HEIGHT * 0.22, text_anchor="middle", class_="halo")
    if not label.is_far:
        return text
    x, y = label.anchor
    return joined((element("line", x1=label.x, y1=label.y, x2=x, y2=y, class_="leader"), text))
