"""Honest splits: every row predicted from rows that share no setup, model, layout, engine version or chip with it."""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from benchmarks.physics.accuracy import Errors, folds, tpot_errors, ttft_errors
from benchmarks.physics.groups import teachers
from benchmarks.physics.pool import LEVELS, Known, Pool
from benchmarks.physics.silicon.rows import Point
from heterodyne.physics.prices import DATASHEET
from heterodyne.physics.profile import FirstToken
from heterodyne.physics.split import Split
from heterodyne.physics.step_time import prefill_s

QUEUE_BUSY = 0.1  # below this share of time spent on other prompts a row counts as one without queueing


class SplitErrors(Struct, frozen=True, kw_only=True):
    """Signed relative errors of every row under one split; in the order of the rows."""

    tpot: Errors
    ttft: Errors
    busy: NDArray[np.float64]  # predicted share of a loop that others' prompts take
    levels: tuple[str | None, ...]  # of the pool that answered; None: the datasheet


PARTS: dict[Split, Callable[[Point], object]] = {
    Split.MODEL: lambda point: point.model,
    Split.LAYOUT: lambda point: (point.parallelism.tp, point.parallelism.dp, point.parallelism.ep),
    Split.VERSION: lambda point: (point.engine, point.engine_version),
    Split.CHIP: lambda point: point.system,
}

# What plans take the ranges of a split for: the level that answers there. With one left out, fewer may be left.
NAMED = {Split.LAYOUT: "model", Split.VERSION: "model", Split.MODEL: "chip", Split.CHIP: "engine"}


def parts_of(points: Sequence[Point], split: Split) -> list[object]:
    """What each row is left out with; where nothing is fitted, what its error is likely to be alike with."""
    if split is Split.SETUP:
        return [*folds(points)]
    part = PARTS.get(split, lambda point: (*point.group, point.model))
    return [part(point) for point in points]


def split_errors(points: Sequence[Point]) -> dict[Split, SplitErrors]:
    """Every split."""
    found = {split: left_out(points, parts_of(points, split)) for split in (Split.SETUP, *PARTS)}
    found[Split.NOTHING] = _errors(points, [(DATASHEET, FirstToken())] * len(points), [None] * len(points))
    return found


def left_out(points: Sequence[Point], part_of: Sequence[object]) -> SplitErrors:
    """Each row from a pool of the rows of other parts."""
    by_part: dict[object, list[int]] = defaultdict(list)
    for index, part in enumerate(part_of):
        by_part[part].append(index)
    taught = set(map(id, teachers(points)))
    known: dict[int, Known] = {}
    levels: dict[int, str | None] = {}
    for part, mine in by_part.items():
        others = (point for point, other in zip(points, part_of, strict=True) if other != part)
        pool = Pool([point for point in others if id(point) in taught])
        for index in mine:
            known[index], levels[index] = pool.nearest(points[index]), pool.level(points[index])
    every = range(len(points))
    return _errors(points, [known[index] for index in every], [levels[index] for index in every])


def as_named(levels: Sequence[str | None], split: Split) -> float | None:
    """The share of rows that rows as near as the split's name promises have answered."""
    named = NAMED.get(split)
    if named is None:
        return None
    near = LEVELS[LEVELS.index(named) :]
    return sum(level in near for level in levels) / len(levels)


def _errors(points: Sequence[Point], known: Sequence[Known], levels: Sequence[str | None]) -> SplitErrors:
    tpot, ttft, busy = [], [], []
    for point, (prices, first) in zip(points, known, strict=True):
        tpot.append(tpot_errors(prices, [point])[0])
        ttft.append(ttft_errors(prices, first, [point])[0])
        prompt_s = prefill_s(point.placement, prices, tokens=point.load.prompt_tokens)
        answer_s = prices.seconds(point.terms) * point.load.output_tokens
        waits = point.running < point.load.concurrency
        busy.append(np.inf if waits else (point.running - 1) * prompt_s / answer_s)
    return SplitErrors(tpot=np.array(tpot), ttft=np.array(ttft), busy=np.array(busy), levels=tuple(levels))
