"""Spot capacity is taken back at times: how long a replica is missing, and how many more make up for it.

Replicas are taken one by one, each as often as it was seen, and another serves after a while. Then the share of time
that one is missing is renewal arithmetic, and how many are there at once is binomial.
"""

from collections.abc import Mapping
from math import comb

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.mix.problem import ReplicaKind

DAY_MIN = 24 * 60.0
SURE = 0.99  # of the time at least as many are there as a plan counts with


class Interruptions(Struct, frozen=True, kw_only=True):
    """How often a machine of the spot market is taken back, and how long until another serves in its place."""

    per_day: float
    recovery_min: float

    @property
    def missing_share(self) -> float:
        """Of the time, for one replica."""
        if self.per_day < 0 or self.recovery_min < 0:
            raise InvalidSpec(
                f"spot-interruptions: {self.per_day:g} a day with {self.recovery_min:g} minutes cannot be; "
                "give numbers from 0 on."
            )
        gone = self.per_day * self.recovery_min / DAY_MIN
        return gone / (1.0 + gone)


def spares(replicas: int, missing_share: float) -> int:
    """The least number beside so many, that as many are there almost always."""
    if not replicas or not missing_share:
        return 0
    more = 0
    while _there(replicas + more, replicas, missing_share) < SURE:
        more += 1
    return more


def rented(kind: ReplicaKind, count: int) -> int:
    """Replicas that are paid for, for so many that serve."""
    return count + spares(count, kind.missing_share)


def hourly_usd(kinds: Mapping[str, ReplicaKind], replicas: Mapping[str, int]) -> float:
    """Of a fleet, spares included."""
    return sum(kinds[name].usd_per_hour * rented(kinds[name], count) for name, count in replicas.items())


def serving_usd(kind: ReplicaKind) -> float:
    """An hour of a replica that serves: what is paid for one that is there only in part of the time, divided by it."""
    return kind.usd_per_hour / (1.0 - kind.missing_share)


def first_spares_usd(kind: ReplicaKind) -> float:
    """An hour of the spares of a single replica, beyond what `serving_usd` has of them."""
    return hourly_usd({kind.name: kind}, {kind.name: 1}) - serving_usd(kind)


def _there(rented_count: int, least: int, missing_share: float) -> float:
    """The share of time in which at least so many of those are there."""
    up = 1.0 - missing_share
    return sum(
        comb(rented_count, count) * up**count * missing_share ** (rented_count - count)
        for count in range(least, rented_count + 1)
    )
