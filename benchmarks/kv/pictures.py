"""The pictures of both pages: panels of lines over networks or prompt lengths; SVG that stands alone."""

from collections.abc import Mapping, Sequence
from math import log10
from pathlib import Path

from msgspec import Struct

from benchmarks.kv.fleets import NETWORKS
from benchmarks.kv.results import SplitRun, StrategyRun

STRATEGIES = Path("docs/images/kv-strategies.svg")
SPLITS = Path("docs/images/kv-splits.svg")
INK = "#777"
TONES = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#9c755f", "#b9b9b9")
WIDE, HIGH, LEFT, TOP, GAP_X, GAP_Y = 230, 150, 56, 54, 62, 62


class Panel(Struct, frozen=True, kw_only=True):
    """Lines over the same places."""

    title: str
    places: Sequence[str]
    lines: Mapping[str, Sequence[float]]


def strategies_picture(runs: Sequence[StrategyRun]) -> str:
    """A panel for each trace and load: the TTFT that nine of ten requests stay within, by network."""
    places = [network.name.replace(" RDMA", "").replace(" TCP", "") for network in NETWORKS]
    panels = []
    for load in dict.fromkeys(run.load for run in runs):
        for trace in dict.fromkeys(run.trace for run in runs):
            lines: dict[str, list[float]] = {}
            for run in runs:
                if (run.trace, run.load) == (trace, load):
                    lines.setdefault(run.way, []).append(run.ttft_p90_s)
            panels.append(Panel(title=f"{trace}, load {load:g}", places=places, lines=lines))
    return _picture(panels, columns=3, title="TTFT p90 by network, seconds", most=10.0)


def splits_picture(runs: Sequence[SplitRun]) -> str:
    """Goodput per dollar of split roles over mixed ones: the most of each, and at each load."""
    lengths = list(dict.fromkeys(run.prompt_tokens for run in runs))
    networks = list(dict.fromkeys(run.network for run in runs))
    loads = list(dict.fromkeys(run.load for run in runs))
    by_key = {(run.prompt_tokens, run.network, run.load): run for run in runs}

    def at(length: int, network: str, load: float) -> float:
        one = by_key[length, network, load]
        return one.split_within / one.mixed_within if one.mixed_within else 1.0

    def most(length: int, network: str) -> float:
        one = by_key[length, network, loads[0]]
        return one.split_requests_per_s / one.mixed_requests_per_s if one.mixed_requests_per_s else 1.0

    places = [f"{length / 1024:g}k" for length in lengths]
    panels = [
        Panel(
            title="largest rate within the SLO",
            places=places,
            lines={network: [most(length, network) for length in lengths] for network in networks},
        ),
        *(
            Panel(
                title=f"at {load:.0%} of the mixed one's largest rate",
                places=places,
                lines={network: [at(length, network, load) for length in lengths] for network in networks},
            )
            for load in loads
        ),
    ]
    title = "Goodput per dollar, split roles over mixed ones, by prompt tokens"
    return _picture(panels, columns=2, title=title, most=4.0, least=0.1, marked=1.0)


def _picture(
    panels: Sequence[Panel],
    *,
    columns: int,
    title: str,
    most: float,
    least: float = 0.05,
    marked: float | None = None,
) -> str:
    names = list(panels[0].lines) if panels else []
    tones = dict(zip(names, TONES, strict=False))
    parts = [f'<text x="{LEFT}" y="16" font-weight="bold">{title}</text>', _legend(tones)]
    for number, panel in enumerate(panels):
        left = LEFT + number % columns * (WIDE + GAP_X)
        top = TOP + number // columns * (HIGH + GAP_Y)
        parts += _panel(panel, tones, left=left, top=top, least=least, most=most, marked=marked)
    rows = -(-len(panels) // columns)
    wide, high = LEFT + columns * (WIDE + GAP_X), TOP + rows * (HIGH + GAP_Y)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" '
        f'font-family="sans-serif" font-size="11" fill="{INK}">\n<title>{title}</title>\n{body}\n</svg>\n'
    )


def _panel(
    panel: Panel, tones: Mapping[str, str], *, left: float, top: float, least: float, most: float, marked: float | None
) -> list[str]:
    """What lies beyond an end of the axis is drawn there."""

    def y_of(value: float) -> float:
        inside = min(most, max(least, value))
        return top + HIGH * (1.0 - log10(inside / least) / log10(most / least))

    def x_of(place: int) -> float:
        return left + WIDE * place / max(1, len(panel.places) - 1)

    parts = [f'<text x="{left}" y="{top - 8}">{panel.title}</text>']
    for value in (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 10.0):
        if least <= value <= most:
            y = y_of(value)
            opacity = 0.9 if value == marked else 0.25
            parts.append(
                f'<line x1="{left}" x2="{left + WIDE}" y1="{y:.1f}" y2="{y:.1f}" stroke="{INK}" opacity="{opacity}"/>'
            )
            parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    for place, name in enumerate(panel.places):
        parts.append(f'<text x="{x_of(place):.1f}" y="{top + HIGH + 16}" text-anchor="middle">{name}</text>')
    for name, values in panel.lines.items():
        points = " ".join(f"{x_of(place):.1f},{y_of(value):.1f}" for place, value in enumerate(values))
        wide = 3 if name == "auto" else 1.6
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{tones[name]}" stroke-width="{wide}">'
            f"<title>{name}</title></polyline>"
        )
    return parts


def _legend(tones: Mapping[str, str]) -> str:
    x, parts = float(LEFT), []
    for name, tone in tones.items():
        parts.append(f'<rect x="{x:.0f}" y="23" width="10" height="10" fill="{tone}"/>')
        parts.append(f'<text x="{x + 14:.0f}" y="32">{name}</text>')
        x += 34 + 6.2 * len(name)
    return "".join(parts)
