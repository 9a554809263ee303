"""The pictures of the plans: what each rents, and price against promise for one model; SVG that stands alone."""

from collections.abc import Sequence
from math import isclose, log10
from pathlib import Path

from benchmarks.plans.cases import CHIPS, SHARE
from benchmarks.plans.judge import Judgement
from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.ranking import (
    HardwareRequirements,
    RankedHardware,
    best_per_accelerator,
    rank_hardware,
)

FLEETS = Path("docs/images/plan-fleets.svg")
FRONTIER = Path("docs/images/plan-frontier.svg")
TONES = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#9c755f", "#d4a72c", "#76b7b2")
TONE = dict(zip(CHIPS, TONES, strict=True))
INK = "#777"
QUANTILE = 0.5  # of measured step times by predicted ones, as `plan hardware` takes them unless told otherwise
LATE_LEAST, LATE_MOST = 0.02, 20.0  # percent of requests, the ends of the axis


def fleets_picture(judgements: Sequence[Judgement]) -> str:
    """A bar for each plan: its chips by their share of the price, its mark how much dearer than the cheapest."""
    row, left, wide, top = 17, 250, 420, 44
    height = top + row * len(judgements) + 10
    parts = [legend(left, 18)]
    for place, one in enumerate(judgements):
        y, x = top + place * row, float(left)
        name = f"{one.case.model}, {one.case.level}, {one.case.traffic.name}"
        parts.append(f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{name}</text>')
        prices = _prices(one)
        for kind, usd in prices.items():
            width = wide * usd / sum(prices.values())
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="13" fill="{TONE[kind]}">'
                f"<title>{kind}: {usd:.2f} USD/h</title></rect>"
            )
            x += width
        dearer = one.usd_per_hour / one.cheapest_usd_per_hour - 1.0
        words = f"{one.usd_per_hour:.2f} USD/h, {'the cheapest' if dearer < 0.005 else f'+{dearer:.0%}'}"
        parts.append(f'<text x="{left + wide + 8}" y="{y + 11}">{words}</text>')
    return svg(left + wide + 190, height, "What every plan rents", parts)


def frontier_picture() -> str:
    """Llama 70B: dollars per million tokens against requests that come late, a line for each chip."""
    requirements = HardwareRequirements(
        model=model_spec("llama-3.1-70b"),
        precision=Precision.FP8,
        slo=Slo(ttft_s=1.0, itl_s=0.05),
        share=SHARE,
        quantile=QUANTILE,
    )
    known = accelerators()
    ranking = rank_hardware(requirements, {name: known[name] for name in CHIPS})
    left, right, top, bottom = 70, 560, 50, 360
    parts = [legend(left, 18)]
    choices = [one for one in best_per_accelerator(ranking.choices) if one.usd_per_million_tokens]
    prices = [at.usd_per_million_tokens or 1.0 for one in choices for at in one.curve if _is_drawn(at.kept_share)]
    least, most = min(prices), max(prices)

    def x_of(kept: float) -> float:
        late = min(LATE_MOST, max(LATE_LEAST, (1.0 - kept) * 100))
        return left + (right - left) * log10(late / LATE_LEAST) / log10(LATE_MOST / LATE_LEAST)

    def y_of(usd: float) -> float:
        return bottom - (bottom - top) * log10(usd / least) / max(1e-9, log10(most / least))

    for late in (0.1, 1.0, 10.0):
        x = x_of(1.0 - late / 100)
        dashed = ' stroke-dasharray="4 3"' if isclose(late, (1.0 - SHARE) * 100) else ""
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="{INK}"{dashed} opacity="0.5"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{late:g} %</text>')
    parts += [
        f'<text x="{left - 6}" y="{y_of(usd) + 4:.1f}" text-anchor="end">{usd:.2f}</text>'
        for usd in (least, (least * most) ** 0.5, most)
    ]
    for one in choices:
        drawn = [at for at in one.curve if _is_drawn(at.kept_share)]
        points = " ".join(f"{x_of(at.kept_share):.1f},{y_of(at.usd_per_million_tokens or 1.0):.1f}" for at in drawn)
        tone = TONE[one.accelerator]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{tone}" stroke-width="2"/>')
        x, y = x_of(one.load.kept_share), y_of(one.usd_per_million_tokens or 1.0)
        name = f"{one.tp} x {one.accelerator}"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{tone}"><title>{name}</title></circle>')
    points = " ".join(f"{x_of(kept):.1f},{y_of(usd):.1f}" for kept, usd in _unbeaten(choices))
    parts.append(f'<polyline points="{points}" fill="none" stroke="{INK}" stroke-width="7" opacity="0.35"/>')
    parts.append(
        f'<text x="{(left + right) / 2}" y="{bottom + 34}" text-anchor="middle">requests that come late '
        "(dashed: what is promised; dots: the plan; grey: the frontier, beaten in neither)</text>"
    )
    parts.append(f'<text x="{left}" y="{top - 8}">USD per million tokens</text>')
    return svg(right + 30, bottom + 46, "Price against promise, Llama 70B in FP8, 1 s and 50 ms a token", parts)


def _unbeaten(choices: Sequence[RankedHardware]) -> list[tuple[float, float]]:
    """Shares kept and prices that no other load on any chip betters in both."""
    every = [(at.kept_share, at.usd_per_million_tokens or 0.0) for one in choices for at in one.curve]
    found: list[tuple[float, float]] = []
    for kept, usd in sorted(
        (one for one in every if _is_drawn(one[0])), key=lambda one: (max(1.0 - one[0], LATE_LEAST / 100), one[1])
    ):
        if not found or usd < found[-1][1]:
            found.append((kept, usd))
    return found


def _is_drawn(kept: float) -> bool:
    return (1.0 - kept) * 100 <= LATE_MOST


def _prices(one: Judgement) -> dict[str, float]:
    """Dollars an hour by chip."""
    known = accelerators()
    found: dict[str, float] = {}
    for kind, count in one.fleet.items():
        chip, _, width = kind.rpartition(" x")
        lowest = min(price.usd_per_hour for price in known[chip].prices if not price.is_spot)
        found[chip] = found.get(chip, 0.0) + lowest * int(width) * count
    return found


def legend(x: float, y: float) -> str:
    """The chips and their colours, in one line."""
    parts = []
    for name, tone in TONE.items():
        parts.append(f'<rect x="{x:.0f}" y="{y - 9}" width="10" height="10" fill="{tone}"/>')
        parts.append(f'<text x="{x + 14:.0f}" y="{y}">{name}</text>')
        x += 26 + 6.4 * len(name)
    return "".join(parts)


def svg(width: float, height: float, title: str, parts: list[str]) -> str:
    """A picture that stands alone and is read in light and in dark."""
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'font-family="sans-serif" font-size="11" fill="{INK}">\n<title>{title}</title>\n{body}\n</svg>\n'
    )
