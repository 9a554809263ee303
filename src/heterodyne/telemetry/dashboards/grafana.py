"""The part of Grafana's dashboard format that we write. Names of fields are Grafana's."""

from typing import Any

import msgspec
from msgspec import Struct, field

SCHEMA_VERSION = 39
COLUMNS = 24  # of Grafana's grid
SOURCE = "datasource"  # the variable that holds the Prometheus to ask


class DataSource(Struct, frozen=True, kw_only=True):
    type: str = "prometheus"
    uid: str = f"${{{SOURCE}}}"


class GridPosition(Struct, frozen=True, kw_only=True):
    h: int
    w: int
    x: int
    y: int


class PanelTarget(Struct, frozen=True, kw_only=True, rename="camel"):
    expr: str
    legend_format: str
    ref_id: str
    datasource: DataSource = DataSource()
    editor_mode: str = "code"
    range: bool = True


class Panel(Struct, frozen=True, kw_only=True, rename="camel"):
    id: int
    type: str  # timeseries, stat, row
    title: str
    grid_pos: GridPosition
    description: str = ""
    datasource: DataSource | None = DataSource()
    targets: tuple[PanelTarget, ...] = ()
    field_config: dict[str, Any] = field(default_factory=lambda: {"defaults": {}, "overrides": []})
    options: dict[str, Any] = field(default_factory=dict)
    collapsed: bool = False
    panels: tuple["Panel", ...] = ()  # of a row that is folded


class Dashboard(Struct, frozen=True, kw_only=True, rename="camel"):
    uid: str
    title: str
    description: str
    panels: tuple[Panel, ...]
    templating: dict[str, Any]
    id: int | None = None
    tags: tuple[str, ...] = ("heterodyne",)
    schema_version: int = SCHEMA_VERSION
    version: int = 1
    editable: bool = True
    graph_tooltip: int = 1  # the crosshair is shared
    refresh: str = "30s"
    time: dict[str, str] = field(default_factory=lambda: {"from": "now-6h", "to": "now"})
    timezone: str = "browser"
    annotations: dict[str, Any] = field(default_factory=lambda: {"list": []})
    links: tuple[str, ...] = ()


def templating(variables: dict[str, str]) -> dict[str, Any]:
    """The choice of a Prometheus, then of labels; each variable with the metric whose values it offers."""
    source = {"name": SOURCE, "label": "Data source", "type": "datasource", "query": "prometheus", "hide": 0}
    return {"list": [source, *(_variable(name, metric) for name, metric in variables.items())]}


def rendered(dashboard: Dashboard) -> str:
    """As a file."""
    return msgspec.json.format(msgspec.json.encode(dashboard), indent=2).decode() + "\n"


def _variable(name: str, metric: str) -> dict[str, Any]:
    query = f"label_values({metric}, {name})"
    return {
        "name": name,
        "label": name.capitalize(),
        "type": "query",
        "datasource": msgspec.to_builtins(DataSource()),
        "definition": query,
        "query": {"query": query, "refId": f"variable-{name}"},
        "refresh": 2,  # when the span of time changes
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",  # what was refused before a pool was chosen has none
        "current": {"text": ["All"], "value": ["$__all"]},
        "hide": 0,
    }
