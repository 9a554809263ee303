"""Rows whose time to the first token has something else in it, told by the rows alone and not by any prediction.

The first token of a prompt does not wait for the end of its answer. Where the same replica under the same load, its KV
in memory, was half as late again before answers of one length as before those of another, and so over most of a sweep,
what was timed is more than a first token. Sweeps of TensorRT-LLM on three chips have 25 to 40 steps before it at every
concurrency where their peers have 6 to 20: a server that streams twenty tokens at a time looks like that. Others have a
first token that is the later the fewer sequences there were: a warm-up that weighs in all of a short run.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from benchmarks.physics.silicon.rows import Point, read_points

LATER = 1.5  # times the first token before the answers that it comes soonest for
ROWS_MIN = 3  # of a sweep that have a peer
Sweep = tuple[object, ...]  # all but the concurrency


def timed_points(folder: Path) -> tuple[list[Point], Counter[str]]:
    """All rows, those marked whose first token counts for nothing, and how many there are of them."""
    points, notes = read_points(folder)
    odd = with_something_else(points)
    notes["first token left out: it depends on how long the answer is"] += len(odd)
    return [structs.replace(one, is_ttft_alone=place not in odd) for place, one in enumerate(points)], notes


def with_something_else(points: Sequence[Point]) -> set[int]:
    """Places of such rows."""
    by_load: dict[Sweep, list[Point]] = defaultdict(list)
    for point in points:
        if point.running >= point.load.concurrency:
            by_load[(*_prompts(point), point.load.concurrency)].append(point)
    late: dict[Sweep, list[bool]] = defaultdict(list)
    for peers in by_load.values():
        soonest = min(point.ttft_s for point in peers)
        for point in peers if len({one.load.output_tokens for one in peers}) > 1 else ():
            late[_sweep(point)].append(point.ttft_s > LATER * soonest)
    odd = {sweep for sweep, each in late.items() if len(each) >= ROWS_MIN and 2 * sum(each) > len(each)}
    return {place for place, point in enumerate(points) if _sweep(point) in odd}


def _prompts(point: Point) -> Sweep:
    """Replica and prompts."""
    return (*point.group, point.engine_version, point.model, point.parallelism, point.load.prompt_tokens)


def _sweep(point: Point) -> Sweep:
    return (*_prompts(point), point.load.output_tokens)
