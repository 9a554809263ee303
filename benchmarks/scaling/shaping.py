"""Loads that figures of the rules may be chosen on: other shapes, other seeds and another day than those of the page.

python -m benchmarks.scaling.shaping --data FOLDER    # ours beside the clairvoyant schedule, no page
"""

import argparse
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from math import exp, pi, sin
from pathlib import Path
from random import Random

from benchmarks.scaling.loads import HOUR_S, Load, by_steps, drawn_from, servegen, steps
from benchmarks.scaling.measure import measure
from benchmarks.scaling.scalers import CLAIRVOYANT, OURS
from heterodyne.planning.traffic.trace_request import TraceRequest

Rate = Callable[[float], float]
RAMPS = ((0, 1.2), (15, 1.2), (40, 5.5), (55, 5.5), (75, 2.0), (85, 2.0), (100, 6.0), (120, 3.0))
HUMPS = ((0, 1.2), (12, 1.2), (17, 8.0), (18.5, 8.0), (21, 2.0), (40, 1.6), (46, 6.0), (48, 6.0), (52, 1.5), (60, 1.5))
WAVE_S = 480.0
SERVEGEN_DAY, SERVEGEN_PACE = 3, 8.0  # the page has the ninth day at its own pace


def main(arguments: Sequence[str]) -> None:
    """Print a line for each load."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with traces/")
    parser.add_argument("--only", metavar="LOAD")
    given = parser.parse_args(arguments)
    for load in shaping_loads(given.data):
        if given.only in {None, load.name}:
            own, best = measure(load, OURS).report, measure(load, CLAIRVOYANT).report
            dearer = own.replica_hours / best.replica_hours - 1
            print(
                f"{load.name}: {own.attainment:.2%} kept, {own.failures} failures, {dearer:+.1%} replica-hours, "
                f"{own.turns_per_hour:.0f} turns",
                flush=True,
            )


def shaping_loads(data: Path) -> Iterator[Load]:
    """All of them."""
    yield _load("two steps", steps((0, 1.2), (30, 3.0), (70, 1.8)), 2 * HOUR_S, 101)
    yield _load("three steps", steps((0, 3.0), (35, 6.5), (65, 4.0), (95, 7.0)), 2 * HOUR_S, 102)
    yield _load("slower crowd", _crowd, 2 * HOUR_S, 103)
    yield _load("two ramps", _line(RAMPS), 2 * HOUR_S, 104)
    yield _load("humps", _line(HUMPS), HOUR_S, 105)
    yield _load("long prompts", _walk(77), HOUR_S, 106, lengths=(700, 0.9, 150, 0.7))
    yield _load("short hump", lambda at_s: _line(HUMPS)(at_s + 660), HOUR_S / 3, 107, lengths=(150, 1.0, 190, 0.8))
    yield _load("waves", _waves, HOUR_S / 2, 109)
    day = by_steps(servegen(data)[SERVEGEN_DAY * 144 :])
    yield _load("another day of ServeGen", lambda at_s: day(at_s * SERVEGEN_PACE), 2.2 * HOUR_S, 108)


def _load(
    name: str, rate: Rate, span_s: float, seed: int, *, lengths: tuple[float, float, float, float] | None = None
) -> Load:
    def requests() -> list[TraceRequest]:
        log = drawn_from(rate, span_s, seed)
        return log if lengths is None else _of_lengths(log, seed + 100, lengths)

    warm_up_s = 600.0 if span_s > HOUR_S else 180.0
    return Load(name=name, title=name, is_seen=True, requests=requests, warm_up_s=warm_up_s)


def _of_lengths(
    log: Sequence[TraceRequest], seed: int, lengths: tuple[float, float, float, float]
) -> list[TraceRequest]:
    """Median and spread of the logarithm, of prompts and of answers."""
    (prompt, prompt_spread, output, output_spread), chance = lengths, Random(seed)
    return [
        TraceRequest(
            at_s=one.at_s,
            prompt_tokens=round(min(prompt * 8, max(8.0, prompt * chance.lognormvariate(0.0, prompt_spread)))),
            output_tokens=round(min(output * 6, max(4.0, output * chance.lognormvariate(0.0, output_spread)))),
        )
        for one in log
    ]


def _line(points: Sequence[tuple[float, float]]) -> Rate:
    """Straight between these minutes and rates."""

    def rate(at_s: float) -> float:
        minute = at_s / 60
        place = min(len(points) - 1, max(1, bisect_right(points, minute, key=lambda point: point[0])))
        (from_minute, before), (to_minute, after) = points[place - 1 : place + 1]
        return before + (after - before) * min(1.0, (minute - from_minute) / (to_minute - from_minute))

    return rate


def _crowd(at_s: float) -> float:
    since_s = at_s - 50 * 60
    if since_s < 0:
        return 1.8
    return 1.8 + 3.6 * min(1.0, since_s / 90) * (1.0 if since_s < 500 else exp(-(since_s - 500) / 240))


def _waves(at_s: float) -> float:
    """Up and down in eight minutes, each crest another height."""
    crest = (5.0, 8.0, 4.0, 7.0)[int(at_s // WAVE_S) % 4]
    return 0.6 + crest * sin(pi * (at_s % WAVE_S) / WAVE_S) ** 2


def _walk(seed: int) -> Rate:
    """A level that wanders and steps, by the minute."""
    chance, level, minutes = Random(seed), 1.0, []
    for minute in range(70):
        level += -0.15 * (level - 1.0) + chance.gauss(0.0, 0.1)
        minutes.append(level * (4.5 if minute < 20 else 6.5 if minute < 38 else 4.0))
    return lambda at_s: minutes[min(69, int(at_s // 60))]


if __name__ == "__main__":
    main(sys.argv[1:])
