"""The exporters that are known, and whose page one is: a new exporter is a file and a line."""

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.accelerators.amd import Amd
from heterodyne.engines.accelerators.dcgm import Dcgm
from heterodyne.engines.accelerators.device import DeviceReading, Exporter
from heterodyne.engines.accelerators.tpu import Tpu
from heterodyne.engines.prometheus_page import read_page

EXPORTERS: tuple[Exporter, ...] = (Dcgm(), Amd(), Tpu())
_NAMES = tuple(name for exporter in EXPORTERS for name in exporter.names)


def read_devices(body: bytes) -> tuple[str, list[DeviceReading]]:
    """The exporter's name and its devices; raises EngineGarbage where the page is of none that is known."""
    page = read_page(body, _NAMES)
    for exporter in EXPORTERS:
        if readings := exporter.read(page):
            return exporter.name, readings
    raise EngineGarbage("The metrics page names no device that its numbers are of.")
