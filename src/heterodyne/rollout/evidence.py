"""Pure: what was seen of one version, as sums that can be added up and kept."""

import math
from collections.abc import Mapping

from msgspec import Struct

from heterodyne.rollout.bounds import UNKNOWN, Bounds, mean_bounds, rate_bounds
from heterodyne.rollout.metric import KINDS, Kind, Metric, Worse, at_load


class MetricSums(Struct, frozen=True):
    """The values of one metric."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def plus(self, other: "MetricSums") -> "MetricSums":
        return MetricSums(self.count + other.count, self.total + other.total, self.squares + other.squares)

    def minus(self, before: "MetricSums") -> "MetricSums":
        return MetricSums(self.count - before.count, self.total - before.total, self.squares - before.squares)


NO_SUMS = MetricSums()


class Evidence(Struct, frozen=True, kw_only=True):
    """Of one version since the rollout began."""

    requests: int = 0
    sums: dict[str, MetricSums] = {}  # by metric

    def plus(self, other: "Evidence") -> "Evidence":
        """Both together."""
        names = self.sums.keys() | other.sums.keys()
        return Evidence(
            requests=self.requests + other.requests,
            sums={name: self.sums.get(name, NO_SUMS).plus(other.sums.get(name, NO_SUMS)) for name in sorted(names)},
        )

    def minus(self, before: "Evidence") -> "Evidence":
        """What has come since."""
        return Evidence(
            requests=self.requests - before.requests,
            sums={name: one.minus(before.sums.get(name, NO_SUMS)) for name, one in self.sums.items()},
        )

    def of(self, metric: Metric) -> MetricSums:
        return self.sums.get(metric.name, NO_SUMS)

    def at_load(self, metric: Metric) -> MetricSums:
        """The same as multiples of what was forecast."""
        return self.sums.get(at_load(metric.name), NO_SUMS)


class ArmsSeen(Struct, frozen=True):
    """Of both versions, over the same time."""

    candidate: Evidence = Evidence()
    baseline: Evidence = Evidence()

    def plus(self, other: "ArmsSeen") -> "ArmsSeen":
        return ArmsSeen(self.candidate.plus(other.candidate), self.baseline.plus(other.baseline))

    def minus(self, before: "ArmsSeen") -> "ArmsSeen":
        """What has come since."""
        return ArmsSeen(self.candidate.minus(before.candidate), self.baseline.minus(before.baseline))


NOTHING_SEEN = ArmsSeen()


def seen(values: Mapping[str, float]) -> Evidence:
    """One request: 0 or 1 for what was so, positive numbers for ratios. What was not seen is left out."""
    return Evidence(requests=1, sums={name: _one(name, value) for name, value in values.items()})


def harm_bounds(metric: Metric, candidate: MetricSums, baseline: MetricSums, alpha: float) -> Bounds:
    """How much worse the candidate is; both versions are unknown to some degree, which shares `alpha`."""
    more = _bounds(metric, candidate, alpha / 2).minus(_bounds(metric, baseline, alpha / 2))
    if metric.worse is Worse.HIGHER:
        return more
    less = Bounds(-more.high, -more.low)
    if metric.worse is Worse.LOWER:
        return less
    # Either way: the distance from no change, as near and as far as it may be.
    near = max(more.low, less.low, 0.0)
    return Bounds(near, max(more.high, less.high))


def _bounds(metric: Metric, sums: MetricSums, alpha: float) -> Bounds:
    if not sums.count:
        return UNKNOWN
    if metric.kind is Kind.RATE:
        return rate_bounds(sums.count, round(sums.total), alpha)
    return mean_bounds(sums.count, sums.total, sums.squares, alpha)


def _one(name: str, value: float) -> MetricSums:
    number = math.log(value) if KINDS[name] is Kind.RATIO else value
    return MetricSums(1, number, number * number)
