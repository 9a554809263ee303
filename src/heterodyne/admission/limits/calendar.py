"""Pure: the windows that limits are counted in: fixed and in UTC, so that everybody can name the current one."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from heterodyne.ports.leases import NO_WINDOW

FOREVER_S = float("inf")


class Span(StrEnum):
    """How long a limit counts before it begins again."""

    MINUTE = "minute"
    DAY = "day"
    MONTH = "month"
    NONE = "none"  # what runs now: it is not used up, it is given back


class Window(NamedTuple):
    """Seconds since the epoch; the start is the window's name."""

    starts_s: int
    ends_s: float


class Calendar:
    """Minutes and days may be given another length, so that a test lives through many of them."""

    def __init__(self, *, minute_s: int = 60, day_s: int = 86_400) -> None:
        self._lengths_s = {Span.MINUTE: minute_s, Span.DAY: day_s}

    def window(self, span: Span, now_s: float) -> Window:
        """The one that holds this moment."""
        if span is Span.NONE:
            return Window(NO_WINDOW, FOREVER_S)
        if span is Span.MONTH:
            return _month(now_s)
        length_s = self._lengths_s[span]
        starts_s = int(now_s // length_s) * length_s
        return Window(starts_s, starts_s + length_s)


def _month(now_s: float) -> Window:
    first = datetime.fromtimestamp(now_s, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    year, month = (first.year + 1, 1) if first.month == 12 else (first.year, first.month + 1)
    return Window(int(first.timestamp()), first.replace(year=year, month=month).timestamp())
