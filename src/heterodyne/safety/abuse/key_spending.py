"""What one key has spent: the last hour by the minute, the last fourteen days by the hour."""

from array import array
from typing import Final, final

MINUTES: Final = 60
HOURS: Final = 14 * 24
DAY_HOURS: Final = 24
HOUR_S: Final = 3600
MINUTE_S: Final = 60


@final
class KeySpending:
    """Rings of sums; an hour that has not come, or was idle, is zero."""

    __slots__ = ("_hour", "_hours", "_minute", "_minutes", "last_hour_usd", "this_hour_usd")

    def __init__(self, at: float, hours: bytes = b"", hour: int = 0) -> None:
        """`hours` are those of an earlier life, as `saved` gave them, and `hour` the last of them."""
        self._minute = int(at // MINUTE_S)
        self._hour = int(at // HOUR_S)
        self._minutes = array("d", bytes(8 * MINUTES))
        self._hours = array("f", bytes(4 * HOURS))
        self.last_hour_usd = 0.0  # of sixty minutes that end now
        self.this_hour_usd = 0.0  # since the clock struck
        if len(hours) == 4 * HOURS:
            self._hours = array("f", hours)
            self._go_to(self._hour, hour)

    @property
    def saved(self) -> bytes:
        """Its hours, for another life."""
        return self._hours.tobytes()

    @property
    def hour(self) -> int:
        """The last one that it knows of, counted from the epoch."""
        return self._hour

    def add(self, usd: float, at: float, *, kept_usd_max: float | None = None) -> None:
        """Spent now; of hours that end, no more than `kept_usd_max` is taken for usual."""
        self.turn(at, kept_usd_max=kept_usd_max)
        self._minutes[self._minute % MINUTES] += usd
        self.last_hour_usd += usd
        self.this_hour_usd += usd

    def turn(self, at: float, *, kept_usd_max: float | None = None) -> None:
        """Time has passed. A clock that was set back is waited for."""
        minute, hour = int(at // MINUTE_S), int(at // HOUR_S)
        for passed in range(self._minute + 1, min(minute, self._minute + MINUTES) + 1):
            self._minutes[passed % MINUTES] = 0.0
        if minute > self._minute:
            self._minute = minute
            self.last_hour_usd = sum(self._minutes)  # anew, so that no rounding stays
        if hour > self._hour:
            usd = self.this_hour_usd
            self._hours[self._hour % HOURS] = usd if kept_usd_max is None else min(usd, kept_usd_max)
            self._go_to(hour, self._hour)
            self._hour, self.this_hour_usd = hour, 0.0

    def active_hours(self) -> list[float]:
        """What each hour has cost in which anything was spent."""
        return [usd for usd in self._hours if usd > 0]

    def similar_hours(self) -> list[float]:
        """Of these, the ones at the time of day that it is now, an hour more or less."""
        found = []
        for day in range(1, HOURS // DAY_HOURS + 1):
            for beside in (-1, 0, 1):
                ago = day * DAY_HOURS + beside
                if ago < HOURS:
                    found.append(self._hours[(self._hour - ago) % HOURS])
        return [usd for usd in found if usd > 0]

    def _go_to(self, hour: int, before: int) -> None:
        """Hours of a fortnight ago make room; those in between were idle."""
        for passed in range(before + 1, min(hour, before + HOURS) + 1):
            self._hours[passed % HOURS] = 0.0
