"""How many requests a replica may hold at once, learned from how late its first tokens come.

The idea is Netflix's Gradient2: when latency now is worse than usual the limit falls in proportion, otherwise it grows
by a small queue. Latency is actual over expected TTFT, so that requests of very different sizes can be compared.
"""

from typing import Final

RATIO_MIN: Final = 0.01  # beyond these a sample says something of the clock or the prediction
RATIO_MAX: Final = 100.0
GRADIENT_MIN: Final = 0.5
SHORT_WEIGHT: Final = 0.2  # one late first token is noise, five are not
WARM_UP_SAMPLES: Final = 10
DRIFT_MAX: Final = 2.0  # after a long overload, what is usual must come down faster than its window
DRIFT_DECAY: Final = 0.95
REFUSAL_DECREASE: Final = 0.9


class AdaptiveLimit:
    """One per replica and worker; `limit` is the whole number to compare with."""

    __slots__ = (
        "_exact",
        "_initial",
        "_long",
        "_long_weight",
        "_max",
        "_min",
        "_pause_max_s",
        "_pause_s",
        "_paused_until_s",
        "_queue",
        "_samples",
        "_short",
        "_smoothing",
        "_tolerance",
        "is_paused",
        "limit",
        "refusals_in_a_row",
    )

    def __init__(
        self,
        *,
        initial: int,
        lowest: int,
        highest: int,
        tolerance: float,
        queue: int,
        smoothing: float,
        samples: int,
        pause_s: float,
        pause_max_s: float,
    ) -> None:
        self._initial = initial
        self._min = float(lowest)
        self._max = float(max(lowest, highest))
        self._tolerance = tolerance
        self._queue = queue
        self._smoothing = smoothing
        self._long_weight = 2 / (samples + 1)
        self._pause_s = pause_s
        self._pause_max_s = pause_max_s
        self._paused_until_s = 0.0
        self.refusals_in_a_row = 0
        self._samples = 0
        self._short = self._long = 0.0
        self._exact = self._max  # while nothing is known of the replica, nothing is held back from it
        self.limit = int(self._max)
        self.is_paused = False

    def on_sample(self, ratio: float, in_flight: int) -> None:
        """A first token came after `ratio` times the expected time, with `in_flight` requests on the replica."""
        # Comparisons in place of min() and max(): every request passes here.
        ratio = RATIO_MIN if ratio < RATIO_MIN else RATIO_MAX if ratio > RATIO_MAX else ratio
        if self._samples >= WARM_UP_SAMPLES:
            short = self._short + SHORT_WEIGHT * (ratio - self._short)
            long = self._long + self._long_weight * (ratio - self._long)
            if long > DRIFT_MAX * short:
                long *= DRIFT_DECAY
            self._short, self._long = short, long
            # A replica that is slow at less than half its limit is slow for another reason.
            if in_flight * 2 >= self._exact:
                gradient = self._tolerance * long / short
                gradient = 1.0 if gradient > 1.0 else GRADIENT_MIN if gradient < GRADIENT_MIN else gradient
                self._move((gradient - 1.0) * self._exact + self._queue)
        else:
            self._warm_up(ratio, in_flight)

    def on_refused(self, now_s: float) -> None:
        """The engine says it is busy. Without a pause, a replica that refuses at once would look the least loaded."""
        self.refusals_in_a_row += 1
        pause_s = self._pause_s * 2.0 ** min(self.refusals_in_a_row - 1, 30)
        self._paused_until_s = now_s + min(pause_s, self._pause_max_s)
        self.is_paused = True
        if self._samples:  # without samples the limit could fall and never grow again
            self._exact = max(self._min, self._exact * REFUSAL_DECREASE)
            self.limit = int(self._exact)

    def on_taken(self) -> None:
        """The engine accepted a request and answered it."""
        self.refusals_in_a_row = 0
        self.is_paused = False

    def advance(self, now_s: float) -> None:
        """A pause whose time is over ends."""
        if self.is_paused and now_s >= self._paused_until_s:
            self.is_paused = False

    def _warm_up(self, ratio: float, in_flight: int) -> None:
        """The first samples make a plain mean; the first of all brings the limit down to where learning starts."""
        if self._samples == 0:
            self._exact = min(self._max, max(self._min, float(self._initial), float(in_flight)))
            self.limit = int(self._exact)
        self._samples += 1
        self._long += (ratio - self._long) / self._samples
        self._short = self._long

    def _move(self, change: float) -> None:
        moved = self._exact + self._smoothing * change
        moved = self._min if moved < self._min else self._max if moved > self._max else moved
        self._exact = moved
        self.limit = int(moved)
