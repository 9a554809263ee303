"""The page of every metric, from `telemetry/metrics.py`."""

from heterodyne.cli.reference.markdown import code, table
from heterodyne.telemetry.metrics import ALL

INTRODUCTION = """\
# Metrics

`GET /metrics` on the gateway's port answers them in the Prometheus text format. Labels come from small closed sets."""


def page() -> str:
    """One row per metric, in the order they are declared."""
    rows = ((code(one.name), one.kind, ", ".join(map(code, one.labels)) or "–", one.help) for one in ALL)
    return INTRODUCTION + "\n\n" + table(("Name", "Kind", "Labels", "Meaning"), rows)
