"""When a request that still waits for its first token is worth sending to a second replica, and how often that may be.

Only before the first token: after it there is something to lose. Whoever sends the hedge cancels the loser.
"""

from heterodyne.routing.health.quantile_sketch import QuantileSketch

CREDIT_MAX = 10.0  # hedges that a quiet time may save up


class HedgeTimer:
    """One per replica: how late is unusually late there, as a ratio to the expected TTFT."""

    __slots__ = ("_factor_max", "_min_s", "_sketch")

    def __init__(self, *, quantile: float, factor_max: float, min_s: float) -> None:
        self._sketch = QuantileSketch(quantile)
        self._factor_max = factor_max
        self._min_s = min_s

    def on_sample(self, ratio: float) -> None:
        """A first token came after `ratio` times the expected time."""
        self._sketch.add(ratio)

    @property
    def ratio(self) -> float | None:
        """The learned quantile; None: not enough first tokens yet."""
        return self._sketch.value

    def after_s(self, expected_s: float) -> float:
        """How long to wait for the first token before a hedge; a slow replica cannot buy itself ever more time."""
        learned = self._sketch.value
        factor = self._factor_max if learned is None or learned > self._factor_max else learned
        after_s = expected_s * factor if factor > 1.0 else expected_s
        return after_s if after_s > self._min_s else self._min_s


class HedgeBudget:
    """One per model: at most a share of its requests is hedged."""

    __slots__ = ("_credit", "_share", "refused", "spent")

    def __init__(self, share: float) -> None:
        self._share = share
        self._credit = 0.0
        self.spent = 0
        self.refused = 0

    def deposit(self) -> None:
        """A request starts."""
        credit = self._credit + self._share
        self._credit = credit if credit < CREDIT_MAX else CREDIT_MAX

    def try_spend(self) -> bool:
        """Whether one more hedge may be sent; if so, it is paid for."""
        if self._credit < 1.0:
            self.refused += 1
            return False
        self._credit -= 1.0
        self.spent += 1
        return True
