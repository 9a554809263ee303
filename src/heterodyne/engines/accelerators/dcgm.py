"""NVIDIA's DCGM exporter. Framebuffer sizes are MiB, `*_UTIL` percent, profiling fields shares."""

from collections.abc import Mapping

from msgspec.structs import replace

from heterodyne.engines.accelerators.device import (
    MEMORY_BYTES_MAX,
    MIB,
    PERCENT,
    DeviceReading,
    MetricSource,
    Table,
    reading,
)
from heterodyne.engines.prometheus_page import PrometheusPage

# The profiling field is there for slices of a device too, and says how busy it was rather than whether it was.
UTILISATION = (MetricSource("DCGM_FI_PROF_GR_ENGINE_ACTIVE"), MetricSource("DCGM_FI_DEV_GPU_UTIL", PERCENT))
USED, TOTAL = MetricSource("DCGM_FI_DEV_FB_USED", MIB), MetricSource("DCGM_FI_DEV_FB_TOTAL", MIB)
FREE, RESERVED = MetricSource("DCGM_FI_DEV_FB_FREE", MIB), MetricSource("DCGM_FI_DEV_FB_RESERVED", MIB)
POWER = (MetricSource("DCGM_FI_DEV_POWER_USAGE"),)
TEMPERATURE = (MetricSource("DCGM_FI_DEV_GPU_TEMP"),)
SOURCES = (*UTILISATION, USED, TOTAL, FREE, RESERVED, *POWER, *TEMPERATURE)


class Dcgm:
    """`nvidia/dcgm-exporter`, with the default counters or more."""

    name = "dcgm"
    names = tuple(source.name for source in SOURCES)

    def read(self, page: PrometheusPage) -> list[DeviceReading]:
        table = Table(page, SOURCES, _device)
        return [self._reading(table, device) for device in table.devices]

    def _reading(self, table: Table, device: str) -> DeviceReading:
        found = reading(
            table,
            device,
            utilisation=UTILISATION,
            memory_used=(USED,),
            memory_total=(TOTAL,),
            power=POWER,
            temperature=TEMPERATURE,
        )
        free = table.first(device, (FREE,), 0.0, MEMORY_BYTES_MAX)
        if found.memory_total_bytes is not None or found.memory_used_bytes is None or free is None:
            return found
        reserved = table.first(device, (RESERVED,), 0.0, MEMORY_BYTES_MAX) or 0.0
        return replace(found, memory_total_bytes=found.memory_used_bytes + free + reserved)


def _device(labels: Mapping[str, str]) -> str:
    """Its number, and that of its slice where it is cut up."""
    number, slice_number = labels.get("gpu", ""), labels.get("GPU_I_ID", "")
    return f"{number}.{slice_number}" if number and slice_number else number
