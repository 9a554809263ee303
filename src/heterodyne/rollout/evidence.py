"""Pure: what was seen of one version, as sums that can be added up and kept."""

import math
from collections.abc import Mapping

from msgspec import Struct

from heterodyne.rollout.bounds import UNKNOWN, Bounds, mean_bounds, rate_bounds
from heterodyne.rollout.metric import METRICS, Kind, Metric, Worse


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


def seen(values: Mapping[str, float]) -> Evidence:
    """One request: 0 or 1 for what was so, positive numbers for ratios. What was not seen is left out."""
    return Evidence(requests=1, sums={name: _one(METRICS[name], value) for name, value in values.items()})


def harm_bounds(metric: Metric, candidate: Evidence, baseline: Evidence, alpha: float) -> Bounds:
    """How much worse the candidate is; both versions are unknown to some degree, which shares `alpha`."""
    one, other = (_bounds(metric, evidence.of(metric), alpha / 2) for evidence in (candidate, baseline))
    more = one.minus(other)
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


def _one(metric: Metric, value: float) -> MetricSums:
    number = math.log(value) if metric.kind is Kind.RATIO else value
    return MetricSums(1, number, number * number)
