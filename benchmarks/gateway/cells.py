"""How rows, amounts and absences look in the tables of docs/benchmarks.md."""

from benchmarks.gateway.results import Row

BARE = "none"


def title(row: Row) -> str:
    """A gateway by name and version."""
    name = "none (the mock engine)" if row.name == BARE else f"{row.name} {row.version}".strip()
    return name if row.replicas == 1 else f"{name}, {row.replicas} replicas"


def amount(value: float, unit: str) -> str:
    """A number with its unit; small ratios as fractions."""
    if unit == "×":
        return f"1/{1 / value:.0f}" if value < 0.02 else f"{value:.2f} ×"
    return f"{number(value)} {unit}"


def number(value: float | None) -> str:
    """Three digits that count, or a dash."""
    if value is None:
        return "–"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
