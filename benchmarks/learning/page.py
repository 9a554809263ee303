"""docs/learning.md, from what `figures.py` measured."""

from collections.abc import Callable
from itertools import pairwise
from statistics import median

from benchmarks.learning.engine import SCATTER, STALLED
from benchmarks.learning.engines import CHANGED, ENGINES, LEARNED, LOADS, OUTPUT_TOKENS, PROMPT_TOKENS, SLOTS
from benchmarks.learning.figures import REQUESTS, SEEDS, STAGES, Accuracy, Figures
from benchmarks.machine import describe
from benchmarks.routing.target import Target, table

TTFT_MOST, ITL_MOST = 15, 10  # per cent
COVERED_LEAST, COVERED_MOST = 75, 85


def render(after: Figures, before: Figures, day: str) -> str:
    """The page."""
    return "\n".join(
        [_head(day), _targets(after), _stages(after, before), _cells(after, before), _changes(after, before)]
    )


def _head(day: str) -> str:
    return f"""# How fast the router learns an engine

What is foretold of requests on engines whose steps cost nothing like what physics says. `make bench-learning` repeats
the run and rewrites this page; nothing here is typed by hand.

Run of {day} on {describe()}, {SEEDS} seeds; times are the engines' own, so the machine does not matter.

- **Engines** are emulated step by step: continuous batching, {SLOTS} sequences at once, first come first served. A step
  takes a fixed part, and more for each sequence, each token of context and each token of prompts it reads; it scatters
  by {SCATTER:.0%}, and one in two thousand takes {STALLED:g} times as long.
- **The prior** is roughly that of an 8B model on an H100; each engine is off by what its name says.
- **Requests** have {PROMPT_TOKENS} prompt tokens in the median, widely spread, and {OUTPUT_TOKENS} of answer in the
  mean; the router expects the mean. {REQUESTS} of each run.
- **Loads** are shares of what the engine can do, requests coming by chance, or so many requests always there.
- **Before** is the learner until this page was first written: one factor for the fixed part, one for everything in a
  batch, one for prompts in between (`benchmarks/learning/before.json`). Its bands were to hold nine in ten.
"""


def _targets(after: Figures) -> str:
    ttft, itl = _each(after, lambda one: one.ttft_error), _each(after, lambda one: one.itl_error)
    return "\n".join([
        f"## After {LEARNED} answers\n",
        table([
            Target(what="TTFT, median error", measured=100 * after.all.ttft_error, unit=" %", most=TTFT_MOST),
            Target(what="ITL, median error", measured=100 * after.all.itl_error, unit=" %", most=ITL_MOST),
            _covered("TTFT within its 80 % band", after.all.ttft_covered),
            _covered("ITL within its 80 % band", after.all.itl_covered),
            Target(what="of all engines at all loads, TTFT off by more than 15 %", measured=_over(ttft, TTFT_MOST),
                   unit=f" of {len(ttft)}", most=0, digits=0),
            Target(what="of all engines at all loads, ITL off by more than 10 %", measured=_over(itl, ITL_MOST),
                   unit=f" of {len(itl)}", most=0, digits=0),
        ]),
    ])  # fmt: skip


def _covered(what: str, share: float) -> Target:
    return Target(what=what, measured=100 * share, unit=" %", least=COVERED_LEAST, most=COVERED_MOST)


def _each(figures: Figures, of: Callable[[Accuracy], float]) -> list[float]:
    return [of(one) for by_load in figures.cells.values() for one in by_load.values()]


def _over(errors: list[float], most: float) -> int:
    return sum(100 * one > most for one in errors)


def _stages(after: Figures, before: Figures) -> str:
    lines = [
        "## By answers learned from\n",
        "All engines at all loads. Covered is what came within the band that was foretold: eight in ten should.\n",
        "| answers | TTFT error, median | before | ITL error, median | before | TTFT covered | ITL covered |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    names = [f"{begin} to {end - 1}" for begin, end in pairwise(STAGES)] + [f"{STAGES[-1]} on"]
    for name, new, old in zip(names, after.stages, before.stages, strict=True):
        lines.append(f"| {name} | {_row(new, old)} |")
    return "\n".join([*lines, ""])


def _cells(after: Figures, before: Figures) -> str:
    lines = [
        "## By engine and load\n",
        f"After {LEARNED} answers.\n",
        "| engine | load | TTFT error, median | before | ITL error, median | before | TTFT covered | ITL covered |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for engine in ENGINES:
        for load in LOADS:
            row = _row(after.cells[engine.name][load.name], before.cells[engine.name][load.name])
            lines.append(f"| {engine.name} | {load.name} | {row} |")
    worst = max(_each(after, lambda one: one.ttft_error)), max(_each(after, lambda one: one.itl_error))
    usual = median(_each(after, lambda one: one.ttft_error)), median(_each(after, lambda one: one.itl_error))
    return "\n".join(
        [
            *lines,
            "",
            f"The median of these rows is {usual[0]:.1%} for TTFT and {usual[1]:.1%} for ITL, the worst {worst[0]:.1%} "
            f"and {worst[1]:.1%}. Where requests come by chance, how many others will be there while one is answered "
            "is not known when it is sent: what a large slope makes of that remains, however well the engine is "
            "known.\n",
        ]
    )


def _changes(after: Figures, before: Figures) -> str:
    lines = [
        "## After a change\n",
        f"Half-way something is another, unannounced. From {CHANGED} answers after it on:\n",
        "| change | TTFT error, median | before | ITL error, median | before | TTFT covered | ITL covered |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(f"| {name} | {_row(new, before.changes[name])} |" for name, new in after.changes.items()),
    ]
    return "\n".join([*lines, ""])


def _row(new: Accuracy, old: Accuracy) -> str:
    return (
        f"{new.ttft_error:.1%} | {old.ttft_error:.1%} | {new.itl_error:.1%} | {old.itl_error:.1%} "
        f"| {new.ttft_covered:.0%} | {new.itl_covered:.0%}"
    )
