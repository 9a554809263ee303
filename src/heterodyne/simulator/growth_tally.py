"""What came of a run with a fleet that grows and shrinks: promises, replica-hours, turns, and waits that were told."""

from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct

from heterodyne.physics.serving import Slo
from heterodyne.simulator.workload import SimulatedRequest

FAILED_TTFT, FAILED_ITL = 5.0, 2.0  # times what is promised: a client that is made to wait so long has gone


class GrowthReport(Struct, frozen=True, kw_only=True):
    """The figures of one run from some moment on."""

    requests: int
    attainment: float  # of those that came, within both times
    failures: int  # refused, or far too late
    refused: int  # of those, the ones that never started
    replica_hours: float
    usd: float
    turns_per_hour: float  # changes of direction, in the hour that has most
    told: int  # requests that were told how long they would be held
    told_error: float | None  # the median of |real - told| / real; None: none was held
    told_within: float | None  # the share that was told it within 10 %
    told_mean_s: float | None = None
    waited_mean_s: float | None = None


class GrowthTally:
    """Grows while the run lasts."""

    def __init__(self, slo: Slo) -> None:
        self._slo = slo
        self.came_at_s: list[float] = []  # of the requests that have ended, or were refused
        self.kept: list[bool] = []
        self.failed: list[bool] = []
        self.refused = 0
        self.waits: list[tuple[float, float]] = []  # told, and real
        self.counts: list[tuple[float, int, int, float]] = []  # when, replicas that stay, those ready, USD an hour
        self.paid_s = 0.0  # of replicas that are gone
        self.usd = 0.0

    def end(self, request: SimulatedRequest, first_at_s: float, now_s: float) -> bool:
        """One is answered; whether its promise was kept."""
        ttft_s, itl_s = first_at_s - request.at_s, (now_s - first_at_s) / max(1, request.output_tokens - 1)
        kept = ttft_s <= self._slo.ttft_s and itl_s <= self._slo.itl_s
        self.came_at_s.append(request.at_s)
        self.kept.append(kept)
        self.failed.append(ttft_s > FAILED_TTFT * self._slo.ttft_s or itl_s > FAILED_ITL * self._slo.itl_s)
        return kept

    def refuse(self, request: SimulatedRequest) -> None:
        """One finds no place."""
        self.came_at_s.append(request.at_s)
        self.kept.append(False)
        self.failed.append(True)
        self.refused += 1

    def count(self, now_s: float, provided: int, ready: int, usd_per_hour: float) -> None:
        """The fleet from now on; a line for each time that it changes."""
        row = (provided, ready, usd_per_hour)
        if not self.counts or self.counts[-1][1:] != row:
            self.counts.append((now_s, *row))

    def report(self, from_s: float = 0.0) -> GrowthReport:
        """Of requests that came from then on; hours and dollars are of the whole run."""
        kept = [one for one, at_s in zip(self.kept, self.came_at_s, strict=True) if at_s >= from_s]
        failed = sum(one for one, at_s in zip(self.failed, self.came_at_s, strict=True) if at_s >= from_s)
        errors = sorted(abs(real_s - told_s) / real_s for told_s, real_s in self.waits if real_s > 0)
        return GrowthReport(
            requests=len(kept),
            attainment=sum(kept) / len(kept) if kept else 1.0,
            failures=failed,
            refused=self.refused,
            replica_hours=self.paid_s / 3600,
            usd=self.usd,
            turns_per_hour=turns_in_worst_hour(self.counts),
            told=len(errors),
            told_error=errors[len(errors) // 2] if errors else None,
            told_within=sum(one <= 0.1 for one in errors) / len(errors) if errors else None,
            told_mean_s=fmean(told_s for told_s, _ in self.waits) if self.waits else None,
            waited_mean_s=fmean(real_s for _, real_s in self.waits) if self.waits else None,
        )


def turns_in_worst_hour(counts: Sequence[tuple[float, int, int, float]]) -> float:
    """Of replicas that are there or coming."""
    turned, direction, last = [], 0, None
    for at_s, provided, _, _ in counts:
        if last is not None and provided != last:
            step = 1 if provided > last else -1
            if direction and step != direction:
                turned.append(at_s)
            direction = step
        last = provided
    most = first = 0
    for place, at_s in enumerate(turned):
        while turned[first] <= at_s - 3600:
            first += 1
        most = max(most, place - first + 1)
    return float(most)
