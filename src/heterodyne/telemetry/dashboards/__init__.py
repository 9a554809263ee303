"""Dashboards for Grafana, made from the registry of metrics so that they cannot drift from it."""

from collections.abc import Callable

from heterodyne.telemetry.dashboards.everything import everything
from heterodyne.telemetry.dashboards.grafana import Dashboard
from heterodyne.telemetry.dashboards.overview import overview

DASHBOARDS: dict[str, Callable[[], Dashboard]] = {  # by the name of the file
    "heterodyne-overview.json": overview,
    "heterodyne-everything.json": everything,
}
