"""What one request has reserved of the limits that it is counted against, or wants to."""

from heterodyne.admission.limits.leased_counter import LeasedCounter
from heterodyne.domain.tenant import Level

Amounts = tuple[int, ...]  # by Measure, of which there are four


class Reservation:
    """A request's claim, in the windows of the moment it was made; it is settled or released once."""

    __slots__ = ("amounts", "is_alone", "is_over", "leased_counters")

    def __init__(self, leased_counters: tuple[LeasedCounter, ...], amounts: Amounts, is_alone: bool = False) -> None:
        self.is_over = False
        self.leased_counters = leased_counters
        self.amounts = amounts
        self.is_alone = is_alone  # made without the source, as it could not be reached


class PendingReservation:
    """A request that the leases at hand do not suffice for; the source has to be asked."""

    __slots__ = ("amounts", "leased_counters", "levels")

    def __init__(self, levels: tuple[Level, ...], amounts: Amounts) -> None:
        self.levels = levels
        self.amounts = amounts
        self.leased_counters: tuple[LeasedCounter, ...] = ()  # pledged in, while a call is under way
