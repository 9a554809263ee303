"""How long the worker's loop is held up by one turn: nobody else is served meanwhile.

A timer that is late shows it: whatever runs while it is due is at least as long as it is late. Of the time between two
firings no more than the processor time that was used can have been one turn's own work; the rest was the machine's.
"""

import asyncio
import time

from heterodyne.telemetry import metrics

PERIOD_S = 0.002  # how exact it is; the timer itself takes a thousandth of a processor
SLOW_S = 0.005
SPAN_S, SPANS = 10.0, 6  # the longest turn is told for a minute
WALL, PROCESSOR = ("wall",), ("processor",)


class LoopLagMonitor:
    """Of one worker; sleeps while nobody is connected."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._fired_s = self._used_s = 0.0  # at the last firing, on either clock
        self._span = 0
        self._wall_s = [0.0] * SPANS
        self._processor_s = [0.0] * SPANS

    def wake(self) -> None:
        """Somebody has connected."""
        if self._timer is None:
            self._fired_s, self._used_s = time.monotonic(), time.thread_time()
            self._arm()

    def sleep(self) -> None:
        """Nobody is connected."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def longest_s(self) -> tuple[float, float]:
        """The longest turn of the last minute by the wall's clock, and by the processor's."""
        self._turn_to(time.monotonic())
        return max(self._wall_s), max(self._processor_s)

    def note(self) -> None:
        """Bring its gauge up to date."""
        wall_s, processor_s = self.longest_s
        metrics.loop_turn.set(WALL, wall_s)
        metrics.loop_turn.set(PROCESSOR, processor_s)

    def _arm(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(PERIOD_S, self._fire)

    def _fire(self) -> None:
        now_s, used_s = time.monotonic(), time.thread_time()
        late_s = now_s - self._fired_s - PERIOD_S
        if late_s > PERIOD_S:
            self._observe(now_s, late_s, min(late_s, used_s - self._used_s))
        self._fired_s, self._used_s = now_s, used_s
        self._arm()

    def _observe(self, now_s: float, wall_s: float, processor_s: float) -> None:
        self._turn_to(now_s)
        at = self._span % SPANS
        self._wall_s[at] = max(self._wall_s[at], wall_s)
        self._processor_s[at] = max(self._processor_s[at], processor_s)
        if wall_s > SLOW_S:
            metrics.loop_slow_turns.observe(WALL, wall_s)
        if processor_s > SLOW_S:
            metrics.loop_slow_turns.observe(PROCESSOR, processor_s)

    def _turn_to(self, now_s: float) -> None:
        """Forget what is more than a minute old."""
        span = int(now_s / SPAN_S)
        for passed in range(max(self._span + 1, span - SPANS + 1), span + 1):
            self._wall_s[passed % SPANS] = self._processor_s[passed % SPANS] = 0.0
        self._span = span
