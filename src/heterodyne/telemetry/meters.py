"""Counters, gauges and histograms cheap enough for the request path.

They only add; `exposition.py` turns them into Prometheus text, and sums those of several worker processes.
"""

from bisect import bisect_left

from msgspec import Struct

from heterodyne.telemetry.tallies import CountTally, HistogramTally

LABEL_SETS_MAX = 2000
OVERFLOW = "other"  # the label value under which everything past the cap is counted

Labels = tuple[str, ...]


class Sample(Struct, frozen=True, array_like=True):
    """One label set of one meter, as it travels between worker processes."""

    meter: str
    labels: Labels
    values: list[float]  # one number; for a histogram its bucket counts and, last, the sum


class Meter:
    """A named family of cells, one per label set, bounded in number."""

    kind = ""

    def __init__(self, name: str, help: str, labels: Labels = ()) -> None:
        self.name = name
        self.help = help
        self.labels = labels
        self._cells: dict[Labels, list[float]] = {}

    def cell(self, labels: Labels) -> list[float]:
        """The numbers of one label set; callers that add often keep the list and add to it."""
        cell = self._cells.get(labels)
        if cell is None:
            assert len(labels) == len(self.labels), f"{self.name} takes the labels {self.labels}"
            if len(self._cells) >= LABEL_SETS_MAX:
                labels = (OVERFLOW,) * len(labels)
            cell = self._cells.setdefault(labels, self._empty())
        return cell

    def forget(self, labels: Labels) -> None:
        """What these labels were about is no more."""
        self._cells.pop(labels, None)

    def _empty(self) -> list[float]:
        return [0.0]

    def samples(self) -> list[Sample]:
        """Every label set with its numbers."""
        self._settle()
        return [Sample(self.name, labels, list(cell)) for labels, cell in self._cells.items()]

    def _settle(self) -> None:
        """Take over what is tallied elsewhere."""


class Counter(Meter):
    """A number that only grows."""

    kind = "counter"

    def __init__(self, name: str, help: str, labels: Labels = ()) -> None:
        super().__init__(name, help, labels)
        self._tallies: dict[int, CountTally] = {}  # by the cell they are of

    def tally(self, labels: Labels) -> CountTally:
        """What a caller on the request path keeps and adds to."""
        cell = self.cell(labels)
        return self._tallies.setdefault(id(cell), CountTally(cell))

    def _settle(self) -> None:
        for tally in self._tallies.values():
            tally.settle()

    def add(self, labels: Labels = (), amount: float = 1.0) -> None:
        self.cell(labels)[0] += amount


class SharedCounter(Counter):
    """What something else has counted, as every worker sees it for itself; of their views the largest counts.

    It starts anew where it is forgotten, as when the counting process has restarted.
    """

    def raise_to(self, labels: Labels, value: float) -> None:
        """As it was counted elsewhere; a number out of order, or made of two others, takes nothing back."""
        cell = self.cell(labels)
        cell[0] = max(cell[0], value)


class Gauge(Meter):
    """A number that goes up and down; workers' gauges are summed."""

    kind = "gauge"

    def add(self, labels: Labels = (), amount: float = 1.0) -> None:
        self.cell(labels)[0] += amount

    def set(self, labels: Labels = (), value: float = 0.0) -> None:
        self.cell(labels)[0] = value


class SharedGauge(Gauge):
    """A number that every worker sees for itself; of their views the largest counts."""


class Histogram(Meter):
    """A distribution over fixed buckets."""

    kind = "histogram"

    def __init__(self, name: str, help: str, labels: Labels = (), *, bounds: tuple[float, ...]) -> None:
        super().__init__(name, help, labels)
        self.bounds = bounds
        self._tallies: dict[int, HistogramTally] = {}  # by the cell they are of

    def tally(self, labels: Labels) -> HistogramTally:
        """What a caller on the request path keeps and adds to."""
        cell = self.cell(labels)
        return self._tallies.setdefault(id(cell), HistogramTally(cell, self.bounds))

    def _settle(self) -> None:
        for tally in self._tallies.values():
            tally.settle()

    def observe(self, labels: Labels, value: float) -> None:
        add_to_histogram(self.cell(labels), self.bounds, value)

    def _empty(self) -> list[float]:
        return [0.0] * (len(self.bounds) + 2)


def add_to_histogram(cell: list[float], bounds: tuple[float, ...], value: float) -> None:
    """One observation in a histogram's cell."""
    cell[bisect_left(bounds, value)] += 1.0
    cell[-1] += value
