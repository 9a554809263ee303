"""What an hour of one key usually costs, and how much would be more than chance.

The reference is what the key spent in its hours of the last fourteen days in which it spent anything: those at about
the same time of day where there are enough, else all. Median and spread are taken of the logarithms, the spread of the
upper half alone, so neither a few dear hours nor many idle ones move them far. The threshold is a prediction interval
of Student's t, wider where fewer hours are known, for a stated number of false alarms; and never below the dearest hour
of the fortnight, for a key that comes in bursts has spent that before.
"""

from collections.abc import Sequence
from math import exp, log, pi, sqrt
from statistics import NormalDist, median
from typing import Final

from msgspec import Struct

HOURS_PER_YEAR: Final = 8766
SIMILAR_HOURS_MIN: Final = 24  # at about the same time of day, below which all hours are taken
SPREAD_MIN: Final = 0.1  # of logarithms: a program that spends the same to the cent may spend a tenth more
MAD_TO_DEVIATION: Final = 1.4826
FREEDOM_SHARE: Final = 0.25  # degrees of freedom that an hour adds to a spread of the upper half; measured, not derived
FREEDOM_MIN: Final = 4.0
USD_LOG_MAX: Final = 700.0  # which is as much as no limit


class UsualHour(Struct, frozen=True):
    """Of one key at one time of day, in dollars."""

    usd: float
    usd_max: float  # above which it is not chance


def usual_hour(similar: Sequence[float], every: Sequence[float], false_alarms_per_year: float) -> UsualHour:
    """By what hours have cost: those at the same time of day, and all; none is zero, and there is one at least."""
    hours = similar if len(similar) >= SIMILAR_HOURS_MIN else every
    logs = [log(usd) for usd in hours]
    middle = median(logs)
    above = [value - middle for value in logs if value >= middle]
    spread = max(MAD_TO_DEVIATION * median(above), SPREAD_MIN)
    count = len(logs)
    freedom = max(FREEDOM_MIN, FREEDOM_SHARE * count)
    reach = student_t(min(0.5, false_alarms_per_year / HOURS_PER_YEAR), freedom) * sqrt(1 + pi / (2 * count))
    return UsualHour(exp(middle), max(*every, exp(min(USD_LOG_MAX, middle + reach * spread))))


def student_t(upper: float, freedom: float) -> float:
    """The value that Student's t is above with this probability, by Wallace's approximation."""
    z = NormalDist().inv_cdf(1 - upper) * (8 * freedom + 3) / (8 * freedom + 1)
    return sqrt(freedom * (exp(z * z / freedom) - 1))
