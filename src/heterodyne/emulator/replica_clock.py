"""Drives a replica's step machine by the wall clock.

Steps follow one another at the times the machine gives, not at the times our timers fire: a late timer delays one
token and not all that follow.
"""

import asyncio
from collections.abc import Callable
from math import inf

from heterodyne.physics.replica.job import Job
from heterodyne.physics.replica.machine import ReplicaMachine
from heterodyne.physics.replica.step import EngineStep, StepResult

# Behind by more than this it goes on from the present, instead of making up for the delay.
LAG_MAX_S = 0.25
# The loop's timers and its clock count whole milliseconds, so that they fire half of one late in the mean.
TIMER_LATE_S = 0.0005


class ReplicaClock:
    """Begins and finishes steps as their time comes, and hands on what each brought about."""

    def __init__(
        self,
        machine: ReplicaMachine,
        on_step: Callable[[EngineStep, StepResult], None],
        *,
        loop: asyncio.AbstractEventLoop,
        speed: float = 1.0,
    ) -> None:
        self.machine = machine
        self.slowdown = 1.0  # every step takes so many times as long
        self.lags = 0  # times the emulator fell behind
        self._on_step = on_step
        self._loop = loop
        self._speed = speed
        self._origin_s = loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._step: EngineStep | None = None
        self._ends_at_s = 0.0
        self._is_stalled = False
        self._is_finishing = False  # a listener of a step may submit; the next one begins after all of them

    @property
    def now_s(self) -> float:
        """The replica's time."""
        return (self._loop.time() - self._origin_s) * self._speed

    @property
    def step_ends_at_s(self) -> float:
        """When the step under way ends, or the last one did."""
        return self._ends_at_s

    def submit(self, job: Job) -> None:
        """A job arrives now."""
        self.machine.submit(job, self.now_s)
        if self._step is None and not self._is_finishing:
            self._begin(self.now_s)

    def arrive(self, job_id: int, tokens: int) -> None:
        """So many of the first tokens of a job that has its memory are here."""
        self.machine.arrive(job_id, tokens, self.now_s)
        if self._step is None and not self._is_finishing:
            self._begin(self.now_s)

    def stall(self) -> None:
        """Stop where it stands; `resume` goes on from there."""
        self._is_stalled = True
        self._cancel_timer()

    def resume(self) -> None:
        """Go on after a stall."""
        if self._is_stalled:
            self._is_stalled = False
            if self._step is not None:
                self._ends_at_s = max(self._ends_at_s, self.now_s)
                self._wake_at(self._ends_at_s, self._finish)
            else:
                self._begin(self.now_s)

    def close(self) -> None:
        """No step ends any more."""
        self._is_stalled = True
        self._cancel_timer()

    def _begin(self, now_s: float) -> None:
        if self._is_stalled:
            return
        self._step = step = self.machine.begin(now_s)
        if step is not None:
            self._ends_at_s = now_s + (step.ends_at_s - step.begins_at_s) * self.slowdown
            self._wake_at(self._ends_at_s, self._finish)
        elif self.machine.ready_at_s < inf:
            self._wake_at(self.machine.ready_at_s, self._begin_ready)

    def _begin_ready(self) -> None:
        if self.machine.ready_at_s < inf:  # else the job that was awaited has been cancelled
            self._begin(self.machine.ready_at_s)

    def _finish(self) -> None:
        step, self._step = self._step, None
        assert step is not None
        self._is_finishing = True
        self._on_step(step, self.machine.finish(names_decoded=True))
        self._is_finishing = False
        ended_at_s = self._ends_at_s
        if self.now_s - ended_at_s > LAG_MAX_S * self._speed:
            self.lags += 1
            ended_at_s = self.now_s
        self._begin(ended_at_s)

    def _wake_at(self, at_s: float, then: Callable[[], None]) -> None:
        self._cancel_timer()
        self._timer = self._loop.call_at(self._origin_s + at_s / self._speed - TIMER_LATE_S, then)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
