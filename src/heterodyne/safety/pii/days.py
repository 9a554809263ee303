"""Days as identity numbers carry them."""

from typing import Final

DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_day(year: int, month: int, day: int) -> bool:
    """Whether a calendar has such a day."""
    if not (1 <= month <= 12 and 1 <= day <= DAYS[month - 1]):
        return False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return leap or month != 2 or day != 29
