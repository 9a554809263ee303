"""Pure: the windows that limits are counted in: fixed and in UTC, so that every process can name the current one."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from heterodyne.ports.leases import NO_WINDOW

FOREVER_S = float("inf")


class LimitPeriod(StrEnum):
    """How long a limit counts before it begins again."""

    MINUTE = "minute"
    DAY = "day"
    MONTH = "month"
    NONE = "none"  # what runs now: it is not used up, it is given back


class LimitWindow(NamedTuple):
    """Seconds since the epoch; the start is the window's name."""

    starts_s: int
    ends_s: float


class Calendar:
    """Minutes and days may be given another length, so that a test lives through many of them."""

    def __init__(self, *, minute_s: int = 60, day_s: int = 86_400) -> None:
        self._lengths_s = {LimitPeriod.MINUTE: minute_s, LimitPeriod.DAY: day_s}

    def window(self, period: LimitPeriod, now_s: float) -> LimitWindow:
        """The one that holds this moment."""
        if period is LimitPeriod.NONE:
            return LimitWindow(NO_WINDOW, FOREVER_S)
        if period is LimitPeriod.MONTH:
            return _month(now_s)
        length_s = self._lengths_s[period]
        starts_s = int(now_s // length_s) * length_s
        return LimitWindow(starts_s, starts_s + length_s)


def _month(now_s: float) -> LimitWindow:
    first = datetime.fromtimestamp(now_s, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    year, month = (first.year + 1, 1) if first.month == 12 else (first.year, first.month + 1)
    return LimitWindow(int(first.timestamp()), first.replace(year=year, month=month).timestamp())
