"""What KV that was brought has saved, by origin: what was measured, against what computing it should have taken.

The other side of that comparison never happened, so it is a forecast. Of the requests that would be brought KV, one in
a hundred is not: what those take, as a share of what was foretold for them, is how far the forecasts of the others are
off, and what was saved is corrected by it.
"""

from math import exp, log
from typing import Final, final

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.routing.routing_choice import KvPlan

CHECKED_SHARE: Final = 0.01  # of requests that would be brought KV and are not
CHECKS_MIN: Final = 20  # before they correct anything
OFF_MAX: Final = 20.0  # times as late or as soon, that one check counts for


@final
class KvSaved:
    """Of one origin."""

    __slots__ = ("arrived", "byte_count", "checked", "failed", "measured_s", "off_log", "plain_s", "tokens", "usd")

    def __init__(self) -> None:
        self.arrived = 0
        self.failed = 0
        self.byte_count = 0.0
        self.tokens = 0.0
        self.plain_s = 0.0  # TTFT that was foretold with everything computed
        self.measured_s = 0.0  # and what it was
        self.usd = 0.0  # foretold to be saved, of what has arrived
        self.checked = 0
        self.off_log = 0.0  # the sum of the logarithms of how far forecasts were off

    @property
    def off(self) -> float:
        """What computing it takes, as a share of what is foretold."""
        return exp(self.off_log / self.checked) if self.checked >= CHECKS_MIN else 1.0

    @property
    def saved_s(self) -> float:
        """Of TTFT, in all; below 0: it has cost time."""
        return self.plain_s * self.off - self.measured_s

    def check(self, foretold_s: float, took_s: float) -> None:
        """Everything was computed, and took so long."""
        self.checked += 1
        self.off_log += log(min(OFF_MAX, max(1.0 / OFF_MAX, took_s / max(1e-6, foretold_s))))


@final
class KvLedger:
    """One per router."""

    __slots__ = ("by_origin",)

    def __init__(self) -> None:
        self.by_origin: dict[KvOrigin, KvSaved] = {origin: KvSaved() for origin in KvOrigin}

    def enter(self, plan: KvPlan, *, plain_s: float, ttft_s: float, has_arrived: bool) -> None:
        """A request to which KV was to be brought has its first token."""
        saved = self.by_origin[plan.origin]
        saved.plain_s += plain_s
        saved.measured_s += ttft_s
        if has_arrived:
            saved.arrived += 1
            saved.byte_count += plan.byte_count
            saved.tokens += plan.tokens
            saved.usd += plan.saved_usd
        else:
            saved.failed += 1
