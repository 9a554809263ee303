"""Pure: which times a bucket is for, and what can be said of a distribution from its buckets alone.

Buckets grow by the fortieth root of ten, from a hundredth of a millisecond to ten million: whatever lies in one is
within three per cent of its geometric middle. Distributions of any spans and groups add up bucket by bucket.
"""

from bisect import bisect_left
from collections.abc import Iterable
from math import ceil

from heterodyne.domain.history import Distribution

PER_DECADE = 40
FLOOR_MS = 0.01  # bucket 0 has this and all below
BUCKETS = 9 * PER_DECADE + 1  # the last has all that is longer than the one before

# Ends of all buckets but the last, which has none; looking there costs as much as a logarithm and takes any number.
ENDS_MS = [FLOOR_MS * 10 ** (bucket / PER_DECADE) for bucket in range(BUCKETS - 1)]


def bucket_of(ms: float) -> int:
    """The bucket that a time belongs to."""
    return bisect_left(ENDS_MS, ms)


def upper_ms(bucket: int) -> float:
    """The longest time in a bucket; of the last one, where it would end if it were like the others."""
    return FLOOR_MS * 10 ** (bucket / PER_DECADE)


def middle_ms(bucket: int) -> float:
    """What stands for every time in a bucket; for the first, which begins nowhere, its end."""
    return FLOOR_MS * 10 ** ((bucket - 0.5) / PER_DECADE) if bucket else FLOOR_MS


def count_of(distribution: Distribution) -> int:
    """How many times were measured."""
    return sum(distribution.counts.values())


def mean_ms(distribution: Distribution) -> float | None:
    """The true mean; None: there were none."""
    count = count_of(distribution)
    return distribution.sum_ms / count if count else None


def percentile_ms(distribution: Distribution, share: float) -> float | None:
    """The least time that at least this share did not exceed, within three per cent; None: there were none."""
    return percentiles_ms(distribution, (share,))[0]


def percentiles_ms(distribution: Distribution, shares: Iterable[float]) -> list[float | None]:
    """Several at the cost of one; shares in rising order."""
    buckets = sorted(distribution.counts.items())
    count = sum(distribution.counts.values())
    found: list[float | None] = []
    place, reached = -1, 0
    for share in shares:
        rank = max(1, ceil(share * count))
        while reached < rank and place + 1 < len(buckets):
            place += 1
            reached += buckets[place][1]
        found.append(middle_ms(buckets[place][0]) if count else None)
    return found


class SpreadTally:
    """A distribution that grows."""

    __slots__ = ("counts", "sum_ms")

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.sum_ms = 0.0

    def add(self, ms: float) -> None:
        """One more time; a number that is none, which would spoil every sum it is in, counts as no time at all."""
        if not ms > 0:
            ms = 0.0
        bucket = bisect_left(ENDS_MS, ms)
        self.counts[bucket] = self.counts.get(bucket, 0) + 1
        self.sum_ms += ms

    def merge(self, other: "Distribution | SpreadTally") -> None:
        """Everything that another one has."""
        counts = self.counts
        for bucket, count in other.counts.items():
            counts[bucket] = counts.get(bucket, 0) + count
        self.sum_ms += other.sum_ms

    def distribution(self) -> Distribution:
        """As it is now."""
        return Distribution(counts=dict(self.counts), sum_ms=self.sum_ms)


def merged(distributions: Iterable[Distribution]) -> Distribution:
    """All of them as one."""
    tally = SpreadTally()
    for distribution in distributions:
        tally.merge(distribution)
    return tally.distribution()
