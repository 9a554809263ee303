"""Cells and tables of docs/physics-accuracy.md."""

from collections.abc import Iterable

from benchmarks.physics.accuracy import Score

NOTHING = "–"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = ("| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows))
    return "\n".join(lines) + "\n"


def counts(rows: dict[str, int]) -> str:
    """What became of the rows of a file."""
    return table(("Rows", "Count"), ((name, str(count)) for name, count in sorted(rows.items())))


def percent(value: float) -> str:
    """One place is more than the rows bear."""
    return f"{value:.1f} %"


def cells(score: Score | None) -> tuple[str, str, str]:
    """Mean, median and the ninth decile."""
    if score is None:
        return (NOTHING, NOTHING, NOTHING)
    return (percent(score.mean), percent(score.median), percent(score.p90))


def filtered(kept: Score | None, points: int) -> str:
    """The mean without the points beyond three sigma, and how many those are."""
    return f"{percent(kept.mean)} (-{points - kept.points})" if kept else NOTHING
