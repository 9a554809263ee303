"""A panel for each metric there is, under the room it comes from: counters as rates, histograms as quantiles."""

from heterodyne.telemetry.dashboards.chart import (
    VARIABLES,
    Chart,
    ChartQuery,
    Row,
    gauge,
    legend,
    placed,
    quantiles,
    rate,
)
from heterodyne.telemetry.dashboards.grafana import Dashboard, templating
from heterodyne.telemetry.meters import Histogram, Meter, SharedGauge
from heterodyne.telemetry.metrics import ALL, requests

PREFIX = "heterodyne_"
BY_MAX = 2  # labels that a rate or a quantile is split by
# The labels that explain most come first; a rate is split by replica only where there is no other label.
BY = (
    *("pool", "model", "reason", "outcome", "state", "status", "what", "kind", "name", "level", "limit"),
    *("class", "tier", "hardware", "operation", "severity", "device", "replica"),
)
UNITS = {  # by how a name ends, before `_total`
    "_seconds": "s",
    "_bytes": "bytes",
    "_bytes_max": "bytes",
    "_usd": "currencyUSD",
    "_usd_per_second": "currencyUSD",
    "_usd_per_million_tokens": "currencyUSD",
    "_watts": "watt",
    "_celsius": "celsius",
    "_used_ratio": "percentunit",
    "_kv_ratio": "percentunit",
    "_hit_ratio": "percentunit",
    "_utilisation_ratio": "percentunit",
    "_weight_ratio": "percentunit",
}
LARGEST = ("_ratio", "_celsius", "_trust", "_stalled", "_writing")  # endings of gauges that must not be summed


def everything() -> Dashboard:
    """Rows are folded until they are opened."""
    rooms: dict[str, list[Meter]] = {}
    for meter in ALL:
        rooms.setdefault(_room(meter), []).append(meter)
    rows = [Row(title=room, charts=tuple(map(_chart, meters)), is_folded=True) for room, meters in rooms.items()]
    return Dashboard(
        uid="heterodyne-everything",
        title="Heterodyne: everything",
        description="Every metric, by room. Written by `heterodyne observability dashboards`.",
        panels=placed(rows),
        templating=templating(dict.fromkeys(VARIABLES, requests.name)),
    )


def _room(meter: Meter) -> str:
    return meter.name.removeprefix(PREFIX).partition("_")[0]


def _chart(meter: Meter) -> Chart:
    title = meter.name.removeprefix(PREFIX)
    return Chart(title=title, unit=_unit(meter), lines=_lines(meter), about=meter.help)


def _lines(meter: Meter) -> tuple[ChartQuery, ...]:
    if isinstance(meter, Histogram):
        return quantiles(meter, (0.5, 0.99), *_by(meter, 1))
    if meter.kind == "counter":
        by = _by(meter, BY_MAX)
        return (ChartQuery(expression=rate(meter, *by), legend=legend(by) or "all"),)
    how = "max" if isinstance(meter, SharedGauge) or meter.name.endswith(LARGEST) else "sum"
    return (ChartQuery(expression=gauge(meter, how, *meter.labels), legend=legend(meter.labels) or "all"),)


def _by(meter: Meter, count: int) -> tuple[str, ...]:
    return tuple(sorted((label for label in meter.labels if label in BY), key=BY.index)[:count])


def _unit(meter: Meter) -> str:
    if meter.kind == "counter":
        # Dollars or seconds of a second; anything else is a number of things.
        return "currencyUSD" if meter.name.endswith("_usd_total") else "short"
    return next((unit for ending, unit in UNITS.items() if meter.name.endswith(ending)), "short")
