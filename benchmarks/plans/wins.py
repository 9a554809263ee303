"""The picture of where each chip wins: the cheapest that keeps a promise, by how strict it is, for three models."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.plans.cases import CHIPS, SHARE
from benchmarks.plans.pictures import INK, QUANTILE, TONE, legend, svg
from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.ranking import HardwareRequirements, RankedHardware, rank_hardware

WINS = Path("docs/images/plan-wins.svg")
MODELS = ("llama-3.1-8b", "llama-3.1-70b", "deepseek-v3")
TTFT_S = (0.25, 0.5, 1.0, 2.0, 4.0)
ITL_MS = (10, 15, 20, 30, 50, 100)
CELL, LEFT, TOP, GAP = 36, 62, 64, 24
NOBODY = "#8884"


def wins_picture() -> str:
    """A panel for each model: time between tokens across, time to the first one down."""
    width = len(ITL_MS) * CELL
    parts = [legend(LEFT, 18)]
    for place, model in enumerate(MODELS):
        left = LEFT + place * (width + GAP)
        parts.append(f'<text x="{left}" y="{TOP - 22}" font-weight="bold">{model}</text>')
        parts += list(_panel(model, left))
    bottom = TOP + len(TTFT_S) * CELL
    for row, ttft_s in enumerate(TTFT_S):
        parts.append(f'<text x="{LEFT - 6}" y="{TOP + row * CELL + 22}" text-anchor="end">{ttft_s:g} s</text>')
    parts.append(
        f'<text x="{LEFT}" y="{bottom + 20}">down: promised first token; across: ms a token; to {SHARE:.0%} of '
        "requests; in a cell: chips in a replica (FP8, 1,024 tokens in, 256 out)</text>"
    )
    return svg(LEFT + len(MODELS) * (width + GAP), bottom + 32, "Where each chip is the cheapest", parts)


def _panel(model: str, left: float) -> Iterator[str]:
    for column, itl_ms in enumerate(ITL_MS):
        x = left + column * CELL
        yield f'<text x="{x + CELL / 2}" y="{TOP - 6}" text-anchor="middle">{itl_ms}</text>'
        for row, ttft_s in enumerate(TTFT_S):
            yield _cell(_cheapest(model, Slo(ttft_s=ttft_s, itl_s=itl_ms / 1000)), x, TOP + row * CELL)


def _cell(won: RankedHardware | None, x: float, y: float) -> str:
    box = f'<rect x="{x + 1:.0f}" y="{y + 1:.0f}" width="{CELL - 2}" height="{CELL - 2}"'
    if won is None:
        return f'{box} fill="{NOBODY}"><title>none keeps it</title></rect>'
    title = f"{won.tp} x {won.accelerator}: {won.usd_per_million_tokens:.2f} USD per million tokens"
    number = f'<text x="{x + CELL / 2}" y="{y + 22}" text-anchor="middle" fill="#fff">{won.tp}</text>'
    return f'{box} fill="{TONE[won.accelerator]}" stroke="{INK}"><title>{title}</title></rect>{number}'


def _cheapest(model: str, slo: Slo) -> RankedHardware | None:
    known = accelerators()
    requirements = HardwareRequirements(
        model=model_spec(model), precision=Precision.FP8, slo=slo, share=SHARE, quantile=QUANTILE
    )
    choices = rank_hardware(requirements, {name: known[name] for name in CHIPS}).choices
    return next((one for one in choices if one.usd_per_million_tokens is not None), None)
