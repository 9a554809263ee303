"""What decides between the tenants of one class: one order per file."""

from collections.abc import Iterator
from typing import Protocol

from heterodyne.admission.queue.line import Line


class Order(Protocol):
    """Whose turn it is among lines in which somebody waits. A counter is service over weight.

    No line that joins has a counter below the floor: whoever did not ask has not saved anything up.
    """

    floor: float
    size: int  # lines in which somebody waits

    def join(self, line: Line) -> None:
        """Somebody waits in it now; its counter is at the floor or above."""
        ...

    def leave(self, line: Line) -> None:
        """Nobody does any more."""
        ...

    def move(self, line: Line) -> None:
        """Its counter was corrected."""
        ...

    def first(self) -> Line:
        """The line whose turn it is; there must be one."""
        ...

    def in_turn(self) -> Iterator[Line]:
        """All lines, from the one whose turn it is; nothing may change meanwhile."""
        ...

    def pass_by(self, line: Line, taken: Line) -> None:
        """`taken` is about to be served before it because it holds enough; that is no credit."""
        ...

    def advance(self, line: Line) -> None:
        """The line is about to be served."""
        ...
