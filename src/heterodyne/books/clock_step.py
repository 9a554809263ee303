"""Notices that the wall clock was set: what is a year old by a wrong clock is not to be thrown away."""

from collections.abc import Callable

from heterodyne.telemetry import log

STEP_S = 3600.0  # by which the wall clock goes wrong in one pass; a machine that slept is awake again soon
STEADY_S = 600.0  # for which it has to go on as clocks do before it is believed again

_log = log.get("books")


class ClockStep:
    """Compares the wall clock with one that only goes forward, at every look."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._offset_s: float | None = None  # of the wall clock from the other
        self._steady_from_s = 0.0

    def is_unsteady(self, wall_s: float) -> bool:
        """Whether the wall clock has just been set, far forward or back."""
        now_s = self._clock()
        offset_s, self._offset_s = self._offset_s, wall_s - now_s
        if offset_s is not None and abs(self._offset_s - offset_s) > STEP_S:
            _log.warning(
                "clock_stepped", by_s=round(self._offset_s - offset_s), then="nothing is forgotten for a while"
            )
            self._steady_from_s = now_s + STEADY_S
        return now_s < self._steady_from_s
