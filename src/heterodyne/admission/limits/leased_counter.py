"""Pure: what one worker has leased of one counter in one window."""

from enum import IntEnum
from typing import Final

from heterodyne.admission.limits.calendar import LimitPeriod, LimitWindow
from heterodyne.domain.tenant import Limits
from heterodyne.ports.leases import LeaseReport, Want

MICRO_USD_PER_USD: Final = 1_000_000


class Measure(IntEnum):
    """What is counted; also the place of its amount in a reservation."""

    REQUESTS = 0
    TOKENS = 1
    MICRO_USD = 2
    RUNNING = 3


class LeasedCounter:
    """`free` is leased and not reserved by a request; below zero it is owed.

    `held - free` is what requests use: the source has counted `held`, so what is free can be given back.
    """

    __slots__ = (
        "burnt",
        "chunk",
        "counter",
        "ends_s",
        "free",
        "free_before",
        "held",
        "is_past",
        "left",
        "left_until_s",
        "level",
        "limit",
        "limit_name",
        "measure",
        "period",
        "place",
        "planned_s",
        "pledged",
        "starts_s",
    )

    def __init__(self, level: str, limit_name: str, limit: int, window: LimitWindow) -> None:
        self.level = level
        self.limit_name = limit_name
        self.counter = f"{level} {limit_name}"
        self.measure, self.period = MEASURES[limit_name]
        self.place = int(self.measure)  # a plain number is found faster in a tuple than its enum
        self.limit = limit
        self.starts_s, self.ends_s = window
        self.free = 0
        self.held = 0
        self.pledged = 0  # taken off `free` for requests that wait for an answer of the source
        self.left = limit  # at the source, as of the last answer
        self.left_until_s = 0.0  # until when no more than that is asked for
        self.chunk = 0  # how much more than needed is leased next time
        self.burnt = 0  # `used` at the last tick
        self.free_before = 0  # `free` at the last tick
        self.planned_s = 0.0
        self.is_past = False  # no request reserves here any longer; what settles is reported

    @property
    def spare(self) -> int:
        """Leased and not used, or owed, requests that wait left aside."""
        return self.free + self.pledged

    @property
    def used(self) -> int:
        """By requests of this worker, those that run included."""
        return self.held - self.spare

    @property
    def is_running(self) -> bool:
        """Whether the source knows its holder by all that it holds: then there must be no second one of its name."""
        return self.period is LimitPeriod.NONE and self.used != 0

    def want(self, at_least: int, wanted: int) -> Want:
        """What to ask the source for."""
        return Want(
            counter=self.counter,
            window=self.starts_s,
            ends_s=0.0 if self.period is LimitPeriod.NONE else self.ends_s,
            limit=self.limit,
            at_least=at_least,
            wanted=max(at_least, wanted),
        )

    def trim_running(self) -> list[LeaseReport]:
        """Places that were free at the last tick too go back; what is held is reported again, in case it was lost."""
        surplus = min(self.spare, self.free_before) if self.spare > 0 else self.spare
        reports = [self.hand_back(surplus)] if self.held or surplus else []
        self.free_before, self.chunk = max(0, self.spare), 0
        return reports

    def report_all(self) -> LeaseReport:
        """Everything that was taken from the source, for one that has lost its counters."""
        return LeaseReport(counter=self.counter, window=self.starts_s, ends_s=self.ends_s, amount=self.held)

    def hand_back(self, amount: int) -> LeaseReport:
        """A report of what the source may have again, or below zero of what it has to count."""
        self.held -= amount
        self.free -= amount
        self.left += amount
        return LeaseReport(
            counter=self.counter,
            window=self.starts_s,
            ends_s=0.0 if self.period is LimitPeriod.NONE else self.ends_s,
            amount=self.held if self.period is LimitPeriod.NONE else -amount,
        )


def limits_of(limits: Limits) -> list[tuple[str, int]]:
    """The limits that are set, in whole numbers."""
    found = []
    for name, (measure, _) in MEASURES.items():
        limit = getattr(limits, name)
        if limit is not None:
            found.append((name, round(limit * MICRO_USD_PER_USD) if measure is Measure.MICRO_USD else limit))
    return found


MEASURES: Final = {
    "requests_per_minute": (Measure.REQUESTS, LimitPeriod.MINUTE),
    "tokens_per_minute": (Measure.TOKENS, LimitPeriod.MINUTE),
    "requests_per_day": (Measure.REQUESTS, LimitPeriod.DAY),
    "tokens_per_day": (Measure.TOKENS, LimitPeriod.DAY),
    "concurrent_requests": (Measure.RUNNING, LimitPeriod.NONE),
    "usd_per_day": (Measure.MICRO_USD, LimitPeriod.DAY),
    "usd_per_month": (Measure.MICRO_USD, LimitPeriod.MONTH),
}
