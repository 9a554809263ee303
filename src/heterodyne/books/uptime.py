"""Adds up how long replicas were up and what that cost, by UTC day. Pure: the time comes in."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from heterodyne.domain.usage import Uptime

DAY_S = 86400
HOUR_S = 3600.0
MICRO = 1_000_000
GAP_MAX_S = 300.0  # of silence that still counts as up: longer, and the machine slept or its clock was set
DAYS_MAX = 2  # an older day is complete, and was stored


class RunningReplica(NamedTuple):
    """One replica that is up."""

    pool: str
    hardware: str
    usd_per_hour: float  # nothing where it is paid by the token, or its price is not known


class UptimeMeter:
    """What one supervisor has seen; `source` distinguishes it from others and from earlier starts."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at: float | None = None
        self._up: tuple[RunningReplica, ...] = ()
        self._sums: dict[tuple[int, str, str], list[float]] = {}  # seconds and dollars

    def tick(self, at: float, up: Iterable[RunningReplica]) -> None:
        """Which replicas are up now; those that were at the last tick were up until now."""
        before, self._at = self._at, at
        if before is not None and before < at <= before + GAP_MAX_S:
            self._count(before, at)
        self._up = tuple(up)

    def uptimes(self) -> tuple[Uptime, ...]:
        """Yesterday and today so far, whole, in place of what was stored of them before."""
        return tuple(
            Uptime(
                day=datetime.fromtimestamp(day * DAY_S, UTC).strftime("%Y-%m-%d"),
                pool=pool,
                hardware=hardware,
                source=self._source,
                up_us=round(up_s * MICRO),
                usd_micro=round(usd * MICRO),
            )
            for (day, pool, hardware), (up_s, usd) in sorted(self._sums.items())
        )

    def _count(self, since: float, until: float) -> None:
        while since < until:
            day = int(since // DAY_S)
            end = min(until, float((day + 1) * DAY_S))
            for one in self._up:
                sums = self._sums.setdefault((day, one.pool, one.hardware), [0.0, 0.0])
                sums[0] += end - since
                sums[1] += (end - since) * one.usd_per_hour / HOUR_S
            since = end
        oldest = int(until // DAY_S) - DAYS_MAX + 1
        self._sums = {key: sums for key, sums in self._sums.items() if key[0] >= oldest}
