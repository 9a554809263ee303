"""A number that was set beforehand, beside what was measured, as a row of a table."""

from collections.abc import Sequence
from math import inf

from msgspec import Struct


class Target(Struct, frozen=True, kw_only=True):
    """One of them."""

    what: str
    measured: float
    unit: str
    most: float | None = None  # None: there is no upper limit
    least: float | None = None
    digits: int = 1

    @property
    def is_met(self) -> bool:
        """Whether it lies within the limits."""
        return (self.most is None or self.measured <= self.most) and (self.least is None or self.measured >= self.least)

    def row(self) -> str:
        limits = []
        if self.least is not None:
            limits.append(f"≥ {self.least:,g}{self.unit}")
        if self.most is not None:
            limits.append(f"≤ {self.most:,g}{self.unit}")
        word = "pass" if self.is_met else "**miss**"
        measured = "never" if self.measured == inf else f"{self.measured:,.{self.digits}f}{self.unit}"
        return f"| {self.what} | {measured} | {', '.join(limits)} | {word} |"


def table(targets: Sequence[Target]) -> str:
    """All of a section."""
    return "\n".join(["| | measured | target | |", "|---|---:|---:|---|", *(target.row() for target in targets), ""])
