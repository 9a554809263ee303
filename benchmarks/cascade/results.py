"""All figures of the page."""

from pathlib import Path

from msgspec import Struct

from benchmarks.cascade.bounds import BoundCheck, ShiftCheck, check_bounds, check_shift
from benchmarks.cascade.evaluation import Folded, Measured, cross_validated, groups_left_out, held_back
from benchmarks.cascade.frugal import FrugalFigure, frugal_figures
from benchmarks.cascade.judged_gsm8k import WAYS, gsm8k
from benchmarks.cascade.public_sets import mmlu, nine_models
from benchmarks.cascade.timing import CascadeTiming, timings

PROMPT = "the prompt alone"


class CascadeResults(Struct, frozen=True, kw_only=True, eq=False):
    """What was measured."""

    measured: tuple[Measured, ...]
    folded: tuple[Folded, ...]
    left_out: tuple[Folded, ...]
    bounds: tuple[BoundCheck, ...]
    shifts: tuple[ShiftCheck, ...]
    frugal: tuple[FrugalFigure, ...]
    timings: tuple[CascadeTiming, ...]


def measure(folder: Path) -> CascadeResults:
    """Everything, in some minutes."""
    measured: list[Measured] = []
    bounds: list[BoundCheck] = []
    for way in (None, *WAYS):
        data = gsm8k(folder, way)
        name = PROMPT if way is None else way.name
        measured += [held_back(data, name, saves_usd=saves_usd) for saves_usd in (False, True)]
        if way is WAYS[1]:
            bounds += check_bounds(data, name, measured[-1].fitted, (300, 1000))
    judged_sets = {way.name: gsm8k(folder, way) for way in WAYS}
    folded = cross_validated({PROMPT: gsm8k(folder, None), **judged_sets})
    left_out, shifts = [], []
    for data in (mmlu(folder), nine_models(folder)):
        measured += [held_back(data, PROMPT, saves_usd=saves_usd) for saves_usd in (False, True)]
        bounds += check_bounds(data, PROMPT, measured[-1].fitted, (300, 1000))
        shifts.append(check_shift(data, measured[-1].fitted))
        folded += cross_validated({PROMPT: data})
        left_out.append(groups_left_out(data, PROMPT))
    return CascadeResults(
        measured=tuple(measured),
        folded=tuple(folded),
        left_out=tuple(left_out),
        bounds=tuple(bounds),
        shifts=tuple(shifts),
        frugal=tuple(frugal_figures(folder)),
        timings=tuple(timings(measured[-1].fitted)),
    )
