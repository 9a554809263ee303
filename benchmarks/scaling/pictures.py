"""The picture: for some loads what comes, and the replicas of three scalers below it; SVG that stands alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.scaling.loads import Load
from benchmarks.scaling.measure import Cell
from benchmarks.scaling.scalers import CLAIRVOYANT, OURS

PICTURE = Path("docs/images/autoscaling.svg")
SHOWN = ("step", "ramp", "flash crowd", "day", "AIBrix", "GenTD26", "ServeGen")
TONES = {OURS: "#4e79a7", CLAIRVOYANT: "#59a14f", "KPA": "#e15759", "HPA, GPU use 80 %": "#b07aa1"}
INK = "#777"
LEFT, WIDE, HIGH, GAP = 120, 620, 70, 28


def picture(known: Mapping[str, Load], cells: Sequence[Cell]) -> str:
    """A band for each load."""
    by_name = {(one.load, one.scaler): one for one in cells}
    shown = [name for name in SHOWN if name in known and (name, OURS) in by_name]
    parts = [_legend()]
    for place, name in enumerate(shown):
        parts += _band(name, by_name, 40 + place * (HIGH + GAP))
    height = 40 + len(shown) * (HIGH + GAP) + 10
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + 20} {height}" role="img" '
        f'font-family="sans-serif" font-size="11" fill="{INK}">\n<title>Replicas that are ready, by load and scaler'
        f"</title>\n{body}\n</svg>\n"
    )


def _band(name: str, by_name: Mapping[tuple[str, str], Cell], top: float) -> list[str]:
    lines = {scaler: by_name[name, scaler] for scaler in TONES if (name, scaler) in by_name}
    most = max(max(one.replicas) for one in lines.values()) or 1.0
    rates = lines[OURS].rates
    peak = max(rates) or 1.0
    area = " ".join(
        f"{_x(place, len(rates)):.1f},{top + HIGH * (1 - rate / peak):.1f}" for place, rate in enumerate(rates)
    )
    parts = [
        f'<text x="{LEFT - 8}" y="{top + HIGH / 2}" text-anchor="end">{name}</text>',
        f'<text x="{LEFT - 8}" y="{top + HIGH / 2 + 14}" text-anchor="end" opacity="0.7">{most:.0f} replicas</text>',
        f'<polygon points="{LEFT},{top + HIGH} {area} {LEFT + WIDE},{top + HIGH}" fill="{INK}" opacity="0.15"/>',
    ]
    for scaler, one in lines.items():
        points = " ".join(
            f"{_x(place, len(one.replicas)):.1f},{top + HIGH * (1 - count / most):.1f}"
            for place, count in enumerate(one.replicas)
        )
        wide = 2 if scaler == OURS else 1.2
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{TONES[scaler]}" stroke-width="{wide}">'
            f"<title>{name}: {scaler}</title></polyline>"
        )
    return parts


def _x(place: int, count: int) -> float:
    return LEFT + WIDE * place / max(1, count - 1)


def _legend() -> str:
    x, parts = float(LEFT), []
    for name, tone in TONES.items():
        parts.append(f'<rect x="{x:.0f}" y="9" width="10" height="10" fill="{tone}"/>')
        parts.append(f'<text x="{x + 14:.0f}" y="18">{name}</text>')
        x += 34 + 6.2 * len(name)
    parts.append(f'<text x="{x:.0f}" y="18">grey: requests</text>')
    return "".join(parts)
