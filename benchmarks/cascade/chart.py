"""The curves as a picture: quality kept by share of big calls, a panel for each set."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from heterodyne.routing.cascade.curve import QualityCurve

WIDTH, HEIGHT, MARGIN, GAP = 250, 190, 44, 26
COLOURS = ("#1f6feb", "#c2410c", "#15803d", "#7c3aed")


class Panel(Struct, frozen=True, kw_only=True, eq=False):
    """One set: its curves by name."""

    title: str
    curves: tuple[tuple[str, QualityCurve], ...]


def drawn(panels: Sequence[Panel]) -> str:
    """An SVG that reads on light and on dark pages."""
    legend = 16 * max(len(panel.curves) + 1 for panel in panels)
    width = MARGIN + len(panels) * (WIDTH + GAP) + GAP
    height = HEIGHT + 2 * MARGIN + legend
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, MARGIN + place * (WIDTH + GAP), MARGIN - 14)
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, left: float, top: float) -> list[str]:
    lowest = min(curve.cheap_quality / curve.big_quality for _, curve in panel.curves)
    low = np.floor(lowest * 20) / 20
    high = max(1.02, max(float(curve.quality.max()) / curve.big_quality for _, curve in panel.curves) + 0.01)

    def point(share: float, kept: float) -> str:
        return f"{left + share * WIDTH:.1f},{top + (high - kept) / (high - low) * HEIGHT:.1f}"

    y_95 = float(point(0, 0.95).split(",")[1])
    parts = [
        f'<text x="{left}" y="{top - 8}" font-weight="bold" fill="#111">{panel.title}</text>',
        f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
        f'<line x1="{left}" y1="{y_95}" x2="{left + WIDTH}" y2="{y_95}" stroke="#bbb" stroke-dasharray="4 3"/>',
        f'<text x="{left - 4}" y="{y_95 + 4}" text-anchor="end" fill="#333">95%</text>',
        f'<text x="{left - 4}" y="{top + HEIGHT}" text-anchor="end" fill="#333">{low:.0%}</text>',
        f'<text x="{left}" y="{top + HEIGHT + 14}" fill="#333">0</text>',
        f'<text x="{left + WIDTH / 2}" y="{top + HEIGHT + 14}" text-anchor="middle" fill="#333">big calls</text>',
        f'<text x="{left + WIDTH}" y="{top + HEIGHT + 14}" text-anchor="end" fill="#333">100%</text>',
        f'<polyline points="{point(0, lowest)} {point(1, 1)}" fill="none" stroke="#777" stroke-dasharray="2 3"/>',
        _key(left, top + HEIGHT + 30, "#777", "by lot"),
    ]
    for place, (name, curve) in enumerate(panel.curves):
        shares = np.linspace(0, 1, 81)
        points = " ".join(point(share, curve.quality_at(share) / curve.big_quality) for share in shares.tolist())
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[place]}" stroke-width="1.6"/>')
        parts.append(_key(left, top + HEIGHT + 46 + 16 * place, COLOURS[place], name))
    return parts


def _key(left: float, top: float, colour: str, name: str) -> str:
    return (
        f'<line x1="{left}" y1="{top - 4}" x2="{left + 16}" y2="{top - 4}" stroke="{colour}" stroke-width="2"/>'
        f'<text x="{left + 21}" y="{top}" fill="#333">{name}</text>'
    )
