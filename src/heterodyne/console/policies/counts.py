"""Counts of metrics by their labels, as figures are made of them. Pure."""

from collections.abc import Iterator, Mapping
from typing import final

from heterodyne.telemetry.meters import Meter


@final
class PolicyCounts:
    """Those of a span of time, or of now."""

    def __init__(self, counts: Mapping[tuple[str, tuple[str, ...]], float]) -> None:
        self._by_meter: dict[str, list[tuple[tuple[str, ...], float]]] = {}
        for (meter, labels), amount in counts.items():
            self._by_meter.setdefault(meter, []).append((labels, amount))

    def of(self, meter: Meter, **labels: str) -> Iterator[tuple[dict[str, str], float]]:
        """Every set of labels of a metric among which these are, with its count."""
        for values, amount in self._by_meter.get(meter.name, ()):
            named = dict(zip(meter.labels, values, strict=False))
            if all(named.get(name) == value for name, value in labels.items()):
                yield named, amount

    def sum(self, meter: Meter, **labels: str) -> float:
        """All of them together."""
        return sum(amount for _, amount in self.of(meter, **labels))

    def whole(self, meter: Meter, **labels: str) -> int:
        """The same as a number of requests."""
        return round(self.sum(meter, **labels))

    def names(self, meter: Meter, label: str) -> set[str]:
        """The values of a label."""
        return {named[label] for named, _ in self.of(meter)}
