"""One device in the same units, whichever exporter reports it, and how such readings are put together from a page."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple, Protocol

from msgspec import Struct

from heterodyne.engines.prometheus_page import PrometheusPage

MIB = float(2**20)
PERCENT = 0.01
# Exporters that do not know a number may write the largest there is. What no device can have is not known.
UTILISATION_MAX, MEMORY_BYTES_MAX, POWER_W_MAX = 1.05, 2.0**50, 100_000.0
TEMPERATURE_C_MIN, TEMPERATURE_C_MAX = -100.0, 300.0


class DeviceReading(Struct, frozen=True, kw_only=True):
    """One device now. None: its exporter does not say."""

    device: str  # among those of one page
    utilisation: float | None = None  # share of the time it is at work, 0 to 1
    memory_used_bytes: float | None = None
    memory_total_bytes: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None


class MetricSource(NamedTuple):
    """A metric, and what its value has to be multiplied with."""

    name: str
    scale: float = 1.0


class Exporter(Protocol):
    """One dialect."""

    @property
    def name(self) -> str: ...

    @property
    def names(self) -> Sequence[str]:
        """Every metric it reads."""
        ...

    def read(self, page: PrometheusPage) -> list[DeviceReading]:
        """Devices in the order of the page; none: the page is not this exporter's."""
        ...


DeviceOf = Callable[[Mapping[str, str]], str]


class Table:
    """What a page says of each device, by metric."""

    def __init__(self, page: PrometheusPage, sources: Sequence[MetricSource], device_of: DeviceOf) -> None:
        self.devices: dict[str, None] = {}
        self._values: dict[tuple[str, str], float] = {}
        for source in sources:
            for sample in page.samples(source.name):
                device = device_of(sample.labels)
                if device:
                    self.devices[device] = None
                    # One that several containers share has a line for each; they say the same.
                    self._values.setdefault((source.name, device), sample.value * source.scale)

    def first(self, device: str, sources: Sequence[MetricSource], least: float, most: float) -> float | None:
        """Of the first of these metrics that says something which can be."""
        for source in sources:
            value = self._values.get((source.name, device))
            if value is not None and isfinite(value) and least <= value <= most:
                return value
        return None


def reading(
    table: Table,
    device: str,
    *,
    utilisation: Sequence[MetricSource],
    memory_used: Sequence[MetricSource],
    memory_total: Sequence[MetricSource],
    power: Sequence[MetricSource] = (),
    temperature: Sequence[MetricSource] = (),
) -> DeviceReading:
    """One device's; of several metrics the first counts that says something."""
    share = table.first(device, utilisation, 0.0, UTILISATION_MAX)
    return DeviceReading(
        device=device,
        utilisation=None if share is None else min(share, 1.0),
        memory_used_bytes=table.first(device, memory_used, 0.0, MEMORY_BYTES_MAX),
        memory_total_bytes=table.first(device, memory_total, 0.0, MEMORY_BYTES_MAX),
        power_w=table.first(device, power, 0.0, POWER_W_MAX),
        temperature_c=table.first(device, temperature, TEMPERATURE_C_MIN, TEMPERATURE_C_MAX),
    )
