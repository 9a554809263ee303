"""All the questions `make bench-physics` answers, asked of the measured points, and the answers as values."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import median

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from benchmarks.physics.accuracy import (
    CALIBRATION_POINTS,
    Errors,
    Score,
    calibrated_errors,
    score,
)
from benchmarks.physics.groups import teachers
from benchmarks.physics.pool import Pool
from benchmarks.physics.silicon.rows import Point
from benchmarks.physics.splits import QUEUE_BUSY, SplitErrors, as_named, parts_of
from benchmarks.physics.spreads import Residuals, ScoredSpreads, scored_spreads
from heterodyne.physics.split import Split

SCORED = (Split.SETUP, Split.LAYOUT, Split.VERSION, Split.MODEL, Split.CHIP, Split.NOTHING)
FEW = 4  # rows from which a middle is said
AS_NAMED_MIN = 0.5  # share of rows that rest on what their split names, for it to have ranges of its own


class Cell(Struct, frozen=True, kw_only=True):
    """One model at one precision on one chip under one engine; errors in percent."""

    system: str
    engine: str
    precision: str
    model: str
    has_experts: bool
    points: int
    is_counted: bool  # too few rows to check themselves are in no figure
    tpot: dict[Split, float]  # mean size
    bias: float  # the middle signed error with the model left out; below zero: it took longer than predicted
    calibrated: float | None
    ttft_free: float | None  # the middle size on rows without queueing, setups left out
    ttft_queued: float | None


class SplitScore(Struct, frozen=True, kw_only=True):
    """One kind of model under one split, in percent: over groups, and over rows."""

    split: Split
    has_experts: bool
    groups: int
    rows: int
    median: float
    worst: float
    rows_median: float
    ttft_free: float  # the middle of groups' middles, rows without queueing
    ttft_free_rows: float
    ttft_queued: float
    ttft_queued_rows: float


class Chip(Struct, frozen=True, kw_only=True):
    """A chip left out entirely: all its points under engines that other chips have too."""

    system: str
    has_experts: bool
    tpot: Score


class Report(Struct, frozen=True, kw_only=True):
    """Everything, for the page and for `--json`."""

    rows: dict[str, int]
    cells: tuple[Cell, ...]
    splits: tuple[SplitScore, ...]
    chips: tuple[Chip, ...]
    spreads: tuple[ScoredSpreads, ...]
    calibrated: dict[str, float]  # kind: the middle of groups' means
    evaluation_us: float
    placement_us: float
    sweep_ms: float


def cells_of(points: Sequence[Point]) -> dict[tuple[bool, str, str, str, str], list[int]]:
    """Places of points by kind, hardware, engine, precision and model."""
    cells: dict[tuple[bool, str, str, str, str], list[int]] = defaultdict(list)
    for index, point in enumerate(points):
        cells[(point.has_experts, *point.group, point.model)].append(index)
    return dict(sorted(cells.items()))


def report(
    points: Sequence[Point],
    notes: Counter[str],
    errors: dict[Split, SplitErrors],
    *,
    costs: tuple[float, float, float],
) -> Report:
    """Sum up what `split_errors` found."""
    counted = set(map(id, teachers(points)))
    after = _calibrated(points)
    cells = tuple(
        _cell(key, places, points, errors, after.get(key), is_counted=id(points[places[0]]) in counted)
        for key, places in cells_of(points).items()
    )
    evaluation_us, placement_us, sweep_ms = costs
    kinds = (False, True)
    return Report(
        rows=dict(notes) | {"kept: points, small groups among them": len(points)},
        cells=cells,
        splits=tuple(_split(split, kind, cells, points, errors[split]) for kind in kinds for split in SCORED),
        chips=tuple(_chips(points, errors[Split.CHIP])),
        spreads=tuple(all_spreads(points, errors, after)),
        calibrated={
            str(kind): median(one.calibrated for one in cells if one.has_experts == kind and one.calibrated is not None)
            for kind in kinds
        },
        evaluation_us=evaluation_us,
        placement_us=placement_us,
        sweep_ms=sweep_ms,
    )


def all_spreads(
    points: Sequence[Point],
    errors: dict[Split, SplitErrors],
    after: dict[tuple[bool, str, str, str, str], tuple[Errors, Errors]] | None = None,
) -> list[ScoredSpreads]:
    """The spreads of every split but that of other makers, of points that are counted."""
    counted = set(map(id, teachers(points)))
    after = _calibrated(points) if after is None else after
    found = []
    for kind in (False, True):
        places = [index for index, point in enumerate(points) if point.has_experts == kind and id(point) in counted]
        groups = len({(*points[index].group, points[index].model) for index in places})
        mine = {key: value for key, value in after.items() if key[0] == kind}
        found.append(
            Residuals(
                split=Split.CALIBRATED,
                has_experts=kind,
                itl=np.concatenate([itl for itl, _ in mine.values()]),
                ttft=np.concatenate([ttft for _, ttft in mine.values()]),
                part_of=tuple(key for key, (itl, _) in mine.items() for _ in itl),
                groups=len(mine),
            )
        )
        for split in SCORED:
            part = parts_of(points, split)
            levels = errors[split].levels
            found.append(
                Residuals(
                    split=split,
                    has_experts=kind,
                    itl=errors[split].tpot[places],
                    ttft=errors[split].ttft[places],
                    part_of=tuple(part[index] for index in places),
                    groups=groups,
                    as_named=as_named([levels[index] for index in places], split),
                )
            )
    return _or_wider([scored_spreads(one) for one in found])


def _or_wider(scored: Sequence[ScoredSpreads]) -> list[ScoredSpreads]:
    """Where most rows left out have nothing as near as the split names, the next wider split lends its spreads."""
    wider = {(one.spreads.split, one.spreads.has_experts): one for one in scored}

    def own_or_lent(one: ScoredSpreads) -> ScoredSpreads:
        if one.as_named is None or one.as_named >= AS_NAMED_MIN:
            return one
        split = SCORED[SCORED.index(one.spreads.split) + 1]
        lent = wider[split, one.spreads.has_experts].spreads
        return structs.replace(one, spreads=structs.replace(lent, split=one.spreads.split), made_of=split)

    return [own_or_lent(one) for one in scored]


def _calibrated(points: Sequence[Point]) -> dict[tuple[bool, str, str, str, str], tuple[Errors, Errors]]:
    """Of each group with enough rows: errors on rows not drawn, after sixteen that were, from what other chips say."""
    known = teachers(points)
    pools = {system: Pool([one for one in known if one.system != system]) for system in {one.system for one in known}}
    found = {}
    for key, places in cells_of(points).items():
        mine = [points[index] for index in places]
        if len(mine) > CALIBRATION_POINTS:
            prior, _ = pools[mine[0].system].of_engine(mine[0])
            found[key] = calibrated_errors(mine, prior)
    return {key: errors for key, errors in found.items() if len(errors[0])}


def _cell(
    key: tuple[bool, str, str, str, str],
    places: list[int],
    points: Sequence[Point],
    errors: dict[Split, SplitErrors],
    after: tuple[Errors, Errors] | None,
    *,
    is_counted: bool,
) -> Cell:
    has_experts, system, engine, precision, model = key
    within = errors[Split.SETUP]
    free, queued = _by_queueing(within, places)
    return Cell(
        system=system,
        engine=engine,
        precision=precision,
        model=model,
        has_experts=has_experts,
        points=len(places),
        is_counted=is_counted,
        tpot={split: float(np.abs(errors[split].tpot[places]).mean()) * 100 for split in SCORED},
        bias=float(np.median(errors[Split.MODEL].tpot[places])) * 100,
        calibrated=float(np.abs(after[0]).mean()) * 100 if after else None,
        ttft_free=_middle(within.ttft[free]) if len(free) >= FEW else None,
        ttft_queued=_middle(within.ttft[queued]) if len(queued) >= FEW else None,
    )


def _split(
    split: Split, has_experts: bool, cells: Sequence[Cell], points: Sequence[Point], errors: SplitErrors
) -> SplitScore:
    mine = [one for one in cells if one.has_experts == has_experts and one.is_counted]
    by_cell = cells_of(points)
    places = [by_cell[(has_experts, one.system, one.engine, one.precision, one.model)] for one in mine]
    every = np.array([index for group in places for index in group])
    queueing = [_by_queueing(errors, group) for group in places]
    free, queued = _by_queueing(errors, every)
    return SplitScore(
        split=split,
        has_experts=has_experts,
        groups=len(mine),
        rows=len(every),
        median=median(one.tpot[split] for one in mine),
        worst=max(one.tpot[split] for one in mine),
        rows_median=_middle(errors.tpot[every]),
        ttft_free=median(_middle(errors.ttft[part]) for part, _ in queueing if len(part) >= FEW),
        ttft_free_rows=_middle(errors.ttft[free]),
        ttft_queued=median(_middle(errors.ttft[part]) for _, part in queueing if len(part) >= FEW),
        ttft_queued_rows=_middle(errors.ttft[queued]),
    )


def _chips(points: Sequence[Point], errors: SplitErrors) -> list[Chip]:
    known = {id(point) for point in teachers(points)}
    by_chip: dict[tuple[bool, str], list[int]] = defaultdict(list)
    engines = {(point.engine, point.has_experts, point.system) for point in points if id(point) in known}
    for index, point in enumerate(points):
        elsewhere = any(
            (engine, kind) == (point.engine, point.has_experts) and system != point.system
            for engine, kind, system in engines
        )
        if id(point) in known and elsewhere:
            by_chip[(point.has_experts, point.system)].append(index)
    return [
        Chip(system=system, has_experts=kind, tpot=score(errors.tpot[places]))
        for (kind, system), places in sorted(by_chip.items())
    ]


def _by_queueing(errors: SplitErrors, places: Sequence[int] | NDArray[np.int_]) -> tuple[NDArray[np.int_], ...]:
    """Places of rows without queueing, and of those with it, whose first tokens were timed."""
    every = np.array(places)
    mine = every[np.isfinite(errors.ttft[every])]
    is_free = errors.busy[mine] < QUEUE_BUSY
    return mine[is_free], mine[~is_free]


def _middle(errors: Errors) -> float:
    return float(np.median(np.abs(errors))) * 100
