"""AMD's device metrics exporter (ROCm). VRAM sizes are MiB, activities percent; which power and temperature there are
depends on the generation of the device."""

from collections.abc import Mapping

from heterodyne.engines.accelerators.device import MIB, PERCENT, DeviceReading, MetricSource, Table, reading
from heterodyne.engines.prometheus_page import PrometheusPage

PREFIXES = ("", "amd_")  # it can be set to begin names with one; this is the one in use


def _sources(*names: str, scale: float = 1.0) -> tuple[MetricSource, ...]:
    return tuple(MetricSource(prefix + name, scale) for name in names for prefix in PREFIXES)


UTILISATION = _sources("gpu_gfx_activity", scale=PERCENT)
MEMORY_USED = _sources("gpu_used_vram", scale=MIB)
MEMORY_TOTAL = _sources("gpu_total_vram", scale=MIB)
POWER = _sources("gpu_package_power", "gpu_power_usage", "gpu_average_package_power")
TEMPERATURE = _sources("gpu_edge_temperature", "gpu_junction_temperature")
SOURCES = (*UTILISATION, *MEMORY_USED, *MEMORY_TOTAL, *POWER, *TEMPERATURE)


class Amd:
    """`rocm/device-metrics-exporter`."""

    name = "amd"
    names = tuple(source.name for source in SOURCES)

    def read(self, page: PrometheusPage) -> list[DeviceReading]:
        table = Table(page, SOURCES, _device)
        return [
            reading(
                table,
                device,
                utilisation=UTILISATION,
                memory_used=MEMORY_USED,
                memory_total=MEMORY_TOTAL,
                power=POWER,
                temperature=TEMPERATURE,
            )
            for device in table.devices
        ]


def _device(labels: Mapping[str, str]) -> str:
    """Its number, and that of its partition where it is cut up; the first one stands for the whole device."""
    number, partition = labels.get("gpu_id", ""), labels.get("gpu_partition_id", "")
    return f"{number}.{partition}" if number and partition not in ("", "0") else number
