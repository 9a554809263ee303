"""Prometheus text from the meters of every worker process.

Each worker leaves its numbers in a file of the run folder once a second; whichever worker is asked for /metrics
adds its own live numbers to the others' files. The supervisor folds the file of a worker that died into one that
stays, so counters never go back.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from math import isfinite
from pathlib import Path

import msgspec

from heterodyne.telemetry import log
from heterodyne.telemetry.meters import Histogram, Meter, Sample, SharedCounter, SharedGauge
from heterodyne.telemetry.run_files import try_write

FOLDED = "folded"
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_HELP_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})
_NOT_FINITE = {"inf": "+Inf", "-inf": "-Inf", "nan": "NaN"}
_log = log.get("telemetry")
_decode = msgspec.msgpack.Decoder(list[Sample]).decode


def own_samples(meters: Iterable[Meter]) -> list[Sample]:
    """This process's numbers."""
    return [sample for meter in meters for sample in meter.samples()]


def write_samples(run_dir: Path, name: str, samples: list[Sample]) -> bool:
    """Write one process's numbers for the others to read; False: the disk did not take them."""
    return try_write(run_dir / f"{name}.meters", msgspec.msgpack.encode(samples), "meters")


def gather(run_dir: Path | None, name: str, meters: Iterable[Meter]) -> Iterable[Sample]:
    """Our live numbers with the latest of every other process."""
    sets = [own_samples(meters)]
    if run_dir is not None:
        sets += [_read(path) for path in run_dir.glob("*.meters") if path.stem != name]
    shared = frozenset(meter.name for meter in meters if isinstance(meter, SharedCounter | SharedGauge))
    return merge(sets, shared)


def _read(path: Path) -> list[Sample]:
    """What a process left; nothing when it was folded since the folder was listed."""
    try:
        return _decode(path.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError) as error:
        _log.warning("meters_not_read", file=path.name, error=str(error))
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
    """Prometheus text exposition. A page has tens of thousands of lines and requests wait while it is written, so
    lines are put together from as few pieces as will do."""
    families: dict[str, list[Sample]] = {}
    for sample in samples:
        families.setdefault(sample.meter, []).append(sample)
    lines: list[str] = []
    for meter in meters:
        lines.append(f"# HELP {meter.name} {meter.help.translate(_HELP_ESCAPES)}\n# TYPE {meter.name} {meter.kind}\n")
        write = _write_histogram if isinstance(meter, Histogram) else _write_number
        for sample in families.get(meter.name, ()):
            write(meter, sample, lines)
    return "".join(lines).encode()


def cumulative(bounds: Sequence[float], counts: Sequence[float]) -> list[tuple[str, float]]:
    """Counts up to each bound, the last without one, as the text format wants them."""
    return list(zip(_names(tuple(bounds)), accumulate(counts), strict=True))


def _write_number(meter: Meter, sample: Sample, lines: list[str]) -> None:
    labels = _labels(meter, sample)
    among = f"{{{labels}}}" if labels else ""
    lines.append(f"{meter.name}{among} {_number(sample.values[0])}\n")


def _write_histogram(meter: Meter, sample: Sample, lines: list[str]) -> None:
    assert isinstance(meter, Histogram)
    name, labels, counts = meter.name, _labels(meter, sample), sample.values[:-1]
    start = f'{name}_bucket{{{labels},le="' if labels else f'{name}_bucket{{le="'
    lines += [f'{start}{bound}"}} {count!r}\n' for bound, count in cumulative(meter.bounds, counts)]
    among = f"{{{labels}}}" if labels else ""
    lines.append(f"{name}_count{among} {sum(counts)!r}\n{name}_sum{among} {_number(sample.values[-1])}\n")


def _labels(meter: Meter, sample: Sample) -> str:
    """In the order of the alphabet, as every client library has them."""
    pairs = sorted(zip(meter.labels, sample.labels, strict=True))
    return ",".join([f'{label}="{value.translate(_ESCAPES)}"' for label, value in pairs])


def _number(value: float) -> str:
    return repr(float(value)) if isfinite(value) else _NOT_FINITE[repr(value)]


@lru_cache(maxsize=64)
def _names(bounds: tuple[float, ...]) -> tuple[str, ...]:
    return (*(repr(float(bound)) for bound in bounds), "+Inf")
