"""A circuit breaker: stops asking a replica that keeps failing, then finds out with single requests whether it is back.

    closed -> (N failures within a window) -> open -> (a time) -> half-open -> (a trial's first token) -> closed
                                               ^---------- (a trial fails) -----'

Unlike ejection it knows nothing of the pool, so it also holds where no more replicas may be ejected. Failures from
before it opened keep their place in the window: a replica that fails again soon after it closed is open at once.
"""

from enum import StrEnum
from math import inf


class BreakerState(StrEnum):
    """What the breaker lets through: everything, nothing, or one trial at a time."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


CLOSED, OPEN, HALF_OPEN = BreakerState  # on the request path an enum's member costs five times as much as a global
NO_TRIAL = 0


class Breaker:
    """One per replica. Only the end of the running trial moves it on; older requests say nothing of the present."""

    __slots__ = ("_failed_at_s", "_failures", "_open_s", "_trials", "_until_s", "_window_s", "opened", "state", "trial")

    def __init__(self, *, failures: int, window_s: float, open_s: float) -> None:
        self._failed_at_s = [-inf] * failures  # a ring: the oldest is the next to be overwritten
        self._failures = 0
        self._window_s = window_s
        self._open_s = open_s
        self._until_s = 0.0
        self._trials = 0
        self.trial = NO_TRIAL  # the number of the trial that runs
        self.state = CLOSED
        self.opened = 0

    def advance(self, now_s: float) -> None:
        """An open breaker whose time is over becomes half-open."""
        if self.state is OPEN and now_s >= self._until_s:
            self.state = HALF_OPEN

    def open_s(self, now_s: float) -> float:
        """How much longer it lets nothing through; 0: it does, a trial at least."""
        return max(0.0, self._until_s - now_s) if self.state is OPEN else 0.0

    def try_trial(self, now_s: float) -> int:
        """The number of the trial that a request which starts now is, or NO_TRIAL."""
        self.advance(now_s)
        if self.state is not HALF_OPEN or self.trial:
            return NO_TRIAL
        self._trials += 1
        self.trial = self._trials
        return self.trial

    def on_good(self, trial: int) -> bool:
        """A first token, or an answer, came; True when that closes the breaker."""
        if not trial or trial != self.trial:
            return False
        self.trial = NO_TRIAL
        self.state = CLOSED
        return True

    def on_nothing(self, trial: int) -> None:
        """A request ended in a way that says nothing of the replica."""
        if trial and trial == self.trial:
            self.trial = NO_TRIAL

    def on_failure(self, trial: int, now_s: float) -> None:
        """A request failed."""
        if trial and trial == self.trial:
            self.trial = NO_TRIAL
            self._open(now_s)
        elif self.state is CLOSED:
            place = self._failures % len(self._failed_at_s)
            self._failures += 1
            self._failed_at_s[place] = now_s
            oldest_s = self._failed_at_s[(place + 1) % len(self._failed_at_s)]
            if now_s - oldest_s <= self._window_s:
                self._open(now_s)

    def _open(self, now_s: float) -> None:
        self.state = OPEN
        self._until_s = now_s + self._open_s
        self.opened += 1
