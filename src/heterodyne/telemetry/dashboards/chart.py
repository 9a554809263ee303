"""A chart before it has a place: what it shows, in which unit, and the PromQL for it."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from heterodyne.telemetry.dashboards.grafana import COLUMNS, GridPosition, Panel, PanelTarget
from heterodyne.telemetry.meters import Meter

VARIABLES = ("model", "pool", "hardware", "tier")  # labels that a viewer may choose values of
RATE = "$__rate_interval"
HEIGHT = 8
ACROSS = 3
CALCULATIONS = ["lastNotNull", "max"]


class ChartQuery(Struct, frozen=True, kw_only=True):
    """One query and what its series are called."""

    expression: str
    legend: str


class Chart(Struct, frozen=True, kw_only=True):
    """One panel."""

    title: str
    unit: str  # as Grafana names units
    lines: tuple[ChartQuery, ...]
    about: str = ""


class Row(Struct, frozen=True, kw_only=True):
    """Charts under one heading."""

    title: str
    charts: tuple[Chart, ...]
    is_folded: bool = False


def pick(meter: Meter, suffix: str = "", **fixed: str) -> str:
    """A selector of a metric, within what the viewer has chosen; `fixed` adds matchers such as `outcome='="kept"'`."""
    chosen = [f'{label}=~"${label}"' for label in VARIABLES if label in meter.labels]
    matchers = ",".join([*chosen, *(f"{label}{matcher}" for label, matcher in fixed.items())])
    return f"{meter.name}{suffix}{{{matchers}}}" if matchers else f"{meter.name}{suffix}"


def rate(meter: Meter, *by: str, suffix: str = "", **fixed: str) -> str:
    """How fast a counter grows, summed by labels."""
    return f"sum{_by(by)} (rate({pick(meter, suffix, **fixed)}[{RATE}]))"


def quantile(meter: Meter, share: float, *by: str) -> str:
    """A quantile of a histogram, by labels."""
    return f"histogram_quantile({share:g}, {rate(meter, *by, 'le', suffix='_bucket')})"


def gauge(meter: Meter, how: str, *by: str, **fixed: str) -> str:
    """A gauge, over all label sets that agree in some labels."""
    return f"{how}{_by(by)} ({pick(meter, **fixed)})"


def quantiles(meter: Meter, shares: Iterable[float], *by: str) -> tuple[ChartQuery, ...]:
    """Several at once, the labels in their names."""
    return tuple(
        ChartQuery(expression=quantile(meter, share, *by), legend=legend(by, f"p{share * 100:g}")) for share in shares
    )


def legend(labels: Iterable[str], *words: str) -> str:
    """What a series is called: the values of its labels, then words of our own."""
    return " ".join([*(f"{{{{{label}}}}}" for label in labels), *words])


def placed(rows: Sequence[Row]) -> tuple[Panel, ...]:
    """Panels three across, numbered in their order; those of folded rows are inside them."""
    panels: list[Panel] = []
    number, y = 1, 0
    for row in rows:
        inside = [_panel(chart, number + 1 + index, index, y + 1) for index, chart in enumerate(row.charts)]
        head = Panel(
            id=number,
            type="row",
            title=row.title,
            grid_pos=GridPosition(h=1, w=COLUMNS, x=0, y=y),
            datasource=None,
            collapsed=row.is_folded,
            panels=tuple(inside) if row.is_folded else (),
        )
        panels += [head] if row.is_folded else [head, *inside]
        number += 1 + len(inside)
        y += 1 + (0 if row.is_folded else HEIGHT * -(-len(inside) // ACROSS))
    return tuple(panels)


def _panel(chart: Chart, number: int, index: int, top: int) -> Panel:
    width = COLUMNS // ACROSS
    return Panel(
        id=number,
        type="timeseries",
        title=chart.title,
        description=chart.about,
        grid_pos=GridPosition(h=HEIGHT, w=width, x=index % ACROSS * width, y=top + index // ACROSS * HEIGHT),
        targets=tuple(
            PanelTarget(expr=line.expression, legend_format=line.legend, ref_id=_letter(place))
            for place, line in enumerate(chart.lines)
        ),
        field_config={
            "defaults": {"unit": chart.unit, "min": 0, "custom": {"lineWidth": 1, "fillOpacity": 5}},
            "overrides": [],
        },
        options={
            "legend": {"displayMode": "table", "placement": "bottom", "showLegend": True, "calcs": CALCULATIONS},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
    )


def _letter(place: int) -> str:
    return chr(ord("A") + place)


def _by(labels: Sequence[str]) -> str:
    return f" by ({', '.join(labels)})" if labels else ""
