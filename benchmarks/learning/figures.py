"""What is kept of a run: how far off forecasts were, by engine, load and answers learned from."""

from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct

from benchmarks.learning.drive import Phase, Told, drive
from benchmarks.learning.engines import CHANGED, CHANGES, ENGINES, LEARNED, LOADS

REQUESTS = 400
CHANGED_AFTER = 300  # requests before a change
SEEDS = 3
STAGES = (0, 25, 50, LEARNED, 200)  # answers that were learned from, at least


class Accuracy(Struct, frozen=True, kw_only=True):
    """Of the forecasts of one group of requests."""

    requests: int
    ttft_error: float  # median, relative
    itl_error: float
    ttft_covered: float  # by the band that was foretold
    itl_covered: float


class Figures(Struct, frozen=True, kw_only=True):
    """One learner's."""

    cells: dict[str, dict[str, Accuracy]]  # by engine and load, once it has learned
    stages: list[Accuracy]  # of everything, in the order of `STAGES`
    changes: dict[str, Accuracy]  # once it has learned again
    all: Accuracy


def measure() -> Figures:
    """Every engine at every load, and every change."""
    cells: dict[str, dict[str, Accuracy]] = {}
    everything: list[Told] = []
    for engine in ENGINES:
        for load in LOADS:
            told = _runs([Phase(engine=engine, load=load, requests=REQUESTS)])
            cells.setdefault(engine.name, {})[load.name] = accuracy(one for one in told if one.answered >= LEARNED)
            everything += told
    return Figures(
        cells=cells,
        stages=[
            accuracy(one for one in everything if begin <= one.answered < end)
            for begin, end in zip(STAGES, (*STAGES[1:], REQUESTS), strict=True)
        ],
        changes={
            change.name: accuracy(
                one
                for one in _runs(
                    [
                        Phase(engine=change.engine, load=change.load, requests=CHANGED_AFTER),
                        Phase(
                            engine=change.engine_after, load=change.load_after, requests=REQUESTS - CHANGED_AFTER + 50
                        ),
                    ]
                )
                if one.phase and one.answered >= CHANGED
            )
            for change in CHANGES
        },
        all=accuracy(one for one in everything if one.answered >= LEARNED),
    )


def _runs(phases: Sequence[Phase]) -> list[Told]:
    return [one for seed in range(SEEDS) for one in drive(phases, seed)]


def accuracy(told: Iterable[Told]) -> Accuracy:
    """Of those that have both times."""
    those = [one for one in told if one.ttft and one.itl]
    return Accuracy(
        requests=len(those),
        ttft_error=median(abs(one.ttft - 1.0) for one in those),
        itl_error=median(abs(one.itl - 1.0) for one in those),
        ttft_covered=sum(one.is_ttft_covered for one in those) / len(those),
        itl_covered=sum(one.is_itl_covered for one in those) / len(those),
    )
