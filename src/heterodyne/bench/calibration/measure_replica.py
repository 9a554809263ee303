"""Measures a live replica: one request alone to learn how fast it is, then the points there is time for."""

from collections.abc import Callable

import msgspec
from msgspec import Struct

from heterodyne.bench.calibration.measure_point import CalibrationTarget, PointMissed, measure_point
from heterodyne.bench.failure import BenchFailure
from heterodyne.domain.errors import EngineGarbage, EngineRefused, EngineUnavailable
from heterodyne.domain.operation import Operation
from heterodyne.physics.memory import Layout
from heterodyne.physics.profile import Profile
from heterodyne.planning.calibration.calibration import MeasuredPoint, at_the_pace_of
from heterodyne.planning.calibration.points import POINTS_MIN, CalibrationLimits, CalibrationPoint, choose_points

ALONE = CalibrationPoint(concurrency=1, prompt_tokens=64, output_tokens=16)
WAYS = ((Operation.COMPLETION, True), (Operation.CHAT, True), (Operation.COMPLETION, False), (Operation.CHAT, False))
ALONE_SHARE = 0.25  # of the whole time, for the first look
OVERTIME = 3.0  # a point may take this many times its share while there is time left
LEFT_MIN_S = 1.0  # with less to go no point is begun


class Missed(Struct, frozen=True, kw_only=True):
    """A point that could not be measured, and why."""

    point: CalibrationPoint
    reason: str


class Watcher(Struct, frozen=True, kw_only=True):
    """Callbacks for the progress of a calibration."""

    on_chosen: Callable[[tuple[CalibrationPoint, ...]], None] = lambda _points: None
    on_measured: Callable[[MeasuredPoint], None] = lambda _measured: None
    on_missed: Callable[[Missed], None] = lambda _missed: None


async def measure_replica(
    target: CalibrationTarget,
    layout: Layout,
    prior: Profile,
    limits: CalibrationLimits,
    *,
    clock: Callable[[], float],
    watcher: Watcher | None = None,
) -> tuple[MeasuredPoint, ...]:
    """Every point that could be measured; raises when too few could, or when the endpoint answers nothing at all."""
    watcher = watcher or Watcher()
    end_s = clock() + limits.budget_s
    target, alone = await _look(target, limit_s=limits.budget_s * ALONE_SHARE, clock=clock)
    points = choose_points(layout, at_the_pace_of(layout, prior, alone), limits)
    watcher.on_chosen(points)
    measured, missed = [], []
    for number, point in enumerate(points, start=1):
        left_s = end_s - clock()
        try:
            if left_s < LEFT_MIN_S:
                raise PointMissed("no time is left")
            limit_s = min(left_s, limits.point_s * OVERTIME)
            found = await measure_point(target, point, number=number, limit_s=limit_s, clock=clock)
        except PointMissed as error:
            missed.append(Missed(point=point, reason=str(error)))
            watcher.on_missed(missed[-1])
        else:
            measured.append(found)
            watcher.on_measured(found)
    if len(measured) < POINTS_MIN:
        raise _too_few(len(measured), missed)
    return tuple(measured)


async def _look(
    target: CalibrationTarget, *, limit_s: float, clock: Callable[[], float]
) -> tuple[CalibrationTarget, MeasuredPoint]:
    """One request alone, in the first of the ways that the endpoint does not refuse."""
    refused: PointMissed | None = None
    for operation, has_ignore_eos in WAYS:
        asked = msgspec.structs.replace(target, operation=operation, has_ignore_eos=has_ignore_eos)
        try:
            alone = await measure_point(asked, ALONE, number=0, limit_s=limit_s, clock=clock)
        except PointMissed as error:
            if error.failure is not BenchFailure.HTTP_4XX:
                raise _named(error) from error
            refused = refused or error
        else:
            return msgspec.structs.replace(asked, tokens_per_word=alone.prompt_tokens / ALONE.prompt_tokens), alone
    assert refused is not None, "there are ways to ask"
    raise _named(refused) from refused


def _named(error: PointMissed) -> EngineUnavailable | EngineRefused | EngineGarbage:
    """Why nothing can be measured, as one of the errors a command shows."""
    match error.failure:
        case None:
            return EngineGarbage(f"the first requests: {error}")
        case BenchFailure.HTTP_4XX | BenchFailure.HTTP_3XX:
            return EngineRefused(f"the first requests: {error}", status=400)
        case _:
            return EngineUnavailable(f"the first requests: {error.failure}: {error}")


def _too_few(count: int, missed: list[Missed]) -> EngineUnavailable:
    why = f"; the first that could not: {_in_words(missed[0])}" if missed else ""
    return EngineUnavailable(
        f"{count} points could be measured and a profile needs {POINTS_MIN}{why}; "
        "give more time (--budget-s), or less to do (--context-max, --concurrency-max)"
    )


def _in_words(missed: Missed) -> str:
    point = missed.point
    return f"{point.concurrency} at once with {point.prompt_tokens} tokens: {missed.reason}"
