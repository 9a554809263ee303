"""The metrics page of the TPU device plugin on Kubernetes nodes. Duty cycles are percent, memory is bytes; power and
temperature are not reported."""

from collections.abc import Mapping

from heterodyne.engines.accelerators.device import PERCENT, DeviceReading, MetricSource, Table, reading
from heterodyne.engines.prometheus_page import PrometheusPage

# Lines of a node are of all its chips; those without the ending only of chips that a container has. The last spelling
# is libtpu's own, for pages that pass on what its monitoring library says.
UTILISATION = tuple(MetricSource(name, PERCENT) for name in ("duty_cycle_node", "duty_cycle", "duty_cycle_pct"))
MEMORY_USED = tuple(map(MetricSource, ("memory_used_node", "memory_used", "hbm_capacity_usage")))
MEMORY_TOTAL = tuple(map(MetricSource, ("memory_total_node", "memory_total", "hbm_capacity_total")))
SOURCES = (*UTILISATION, *MEMORY_USED, *MEMORY_TOTAL)


class Tpu:
    """GKE's TPU device plugin, port 2112."""

    name = "tpu"
    names = tuple(source.name for source in SOURCES)

    def read(self, page: PrometheusPage) -> list[DeviceReading]:
        table = Table(page, SOURCES, _device)
        return [
            reading(table, device, utilisation=UTILISATION, memory_used=MEMORY_USED, memory_total=MEMORY_TOTAL)
            for device in table.devices
        ]


def _device(labels: Mapping[str, str]) -> str:
    """The chip's number on its host, which ends an id that begins with the host's; other pages' `memory_used` have
    no such label."""
    return labels.get("accelerator_id", "").rpartition("-")[2]
