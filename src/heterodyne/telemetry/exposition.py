"""Prometheus text from the meters of every worker process.

Each worker leaves its numbers in a file of the run folder once a second; whichever worker is asked for /metrics
adds its own live numbers to the others' files. The supervisor folds the file of a worker that died into one that
stays, so counters never go back.
"""

import os
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path

import msgspec
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from heterodyne.telemetry.meters import Histogram, Meter, Sample, SharedGauge

FOLDED = "folded"
_decode = msgspec.msgpack.Decoder(list[Sample]).decode


def own_samples(meters: Iterable[Meter]) -> list[Sample]:
    """This process's numbers."""
    return [sample for meter in meters for sample in meter.samples()]


def leave(run_dir: Path, name: str, samples: list[Sample]) -> None:
    """Write one process's numbers for the others to read."""
    temporary = run_dir / f".{name}.{os.getpid()}"
    temporary.write_bytes(msgspec.msgpack.encode(samples))
    temporary.replace(run_dir / f"{name}.meters")


def fold(run_dir: Path, name: str, meters: Iterable[Meter]) -> None:
    """Keep the counters of a process that is gone; its gauges died with it."""
    gauges = {meter.name for meter in meters if meter.kind == "gauge"}
    gone = run_dir / f"{name}.meters"
    if not gone.exists():
        return
    kept = [sample for sample in _decode(gone.read_bytes()) if sample.meter not in gauges]
    folded = run_dir / f"{FOLDED}.meters"
    if folded.exists():
        kept = list(merge([kept, _decode(folded.read_bytes())]))
    leave(run_dir, FOLDED, kept)
    gone.unlink()


def gather(run_dir: Path | None, name: str, meters: Iterable[Meter]) -> Iterable[Sample]:
    """Our live numbers with everybody else's latest."""
    sets = [own_samples(meters)]
    if run_dir is not None:
        sets += [_read(path) for path in run_dir.glob("*.meters") if path.stem != name]
    return merge(sets, frozenset(meter.name for meter in meters if isinstance(meter, SharedGauge)))


def _read(path: Path) -> list[Sample]:
    """What a process left; nothing when it was folded since the folder was listed."""
    try:
        return _decode(path.read_bytes())
    except FileNotFoundError:
        return []


def merge(sets: Iterable[list[Sample]], shared: frozenset[str] = frozenset()) -> Iterable[Sample]:
    """Sum samples of the same meter and labels; of meters that are shared, take the largest."""
    sums: dict[tuple[str, tuple[str, ...]], list[float]] = {}
    for samples in sets:
        for sample in samples:
            key = (sample.meter, sample.labels)
            known = sums.get(key)
            if known is None:
                sums[key] = sample.values
            elif sample.meter in shared:
                sums[key] = max(known, sample.values)
            else:
                sums[key] = [a + b for a, b in zip(known, sample.values, strict=True)]
    return [Sample(meter, labels, values) for (meter, labels), values in sums.items()]


def render(meters: Iterable[Meter], samples: Iterable[Sample]) -> bytes:
    """Prometheus text exposition."""
    registry = CollectorRegistry()
    registry.register(_Collector({meter.name: meter for meter in meters}, samples))
    return generate_latest(registry)


class _Collector:
    def __init__(self, meters: dict[str, Meter], samples: Iterable[Sample]) -> None:
        self._meters = meters
        self._samples = samples

    def collect(self) -> Iterable[Metric]:
        families = {name: _family(meter) for name, meter in self._meters.items()}
        for sample in self._samples:
            meter, family = self._meters.get(sample.meter), families.get(sample.meter)
            if isinstance(family, HistogramMetricFamily) and isinstance(meter, Histogram):
                family.add_metric(
                    sample.labels, cumulative(meter.bounds, sample.values[:-1]), sum_value=sample.values[-1]
                )
            elif isinstance(family, CounterMetricFamily | GaugeMetricFamily):
                family.add_metric(sample.labels, sample.values[0])
        return families.values()


def _family(meter: Meter) -> Metric:
    if meter.kind == "histogram":
        return HistogramMetricFamily(meter.name, meter.help, labels=meter.labels)
    if meter.kind == "counter":
        return CounterMetricFamily(meter.name, meter.help, labels=meter.labels)
    return GaugeMetricFamily(meter.name, meter.help, labels=meter.labels)


def cumulative(bounds: Sequence[float], counts: Sequence[float]) -> list[tuple[str, float]]:
    """Counts up to each bound, the last without one, as the text format wants them."""
    names = [*(repr(float(bound)) for bound in bounds), "+Inf"]
    return list(zip(names, accumulate(counts), strict=True))
