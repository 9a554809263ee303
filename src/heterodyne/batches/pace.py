"""Pure: which line of a batch is asked next, and how many at a time; the gateway and the simulator go by it.

Of lines that begin alike one goes first, and each result lets two more go: what they share is then computed once on
each replica that is drawn in, and not by all of them at the same time.
"""

from collections import deque
from collections.abc import Iterable
from typing import Final, Generic, TypeVar

WAITING_MAX: Final = 16  # lines of one project in the fair queues of one worker: the others are not asked yet
LINES_LOW: Final = 32  # fewer that can be asked, and the next piece is taken
PAUSE_S: Final = 0.25  # where there was no room: that may be so for a moment only
FOLLOWERS: Final = 2

Line = TypeVar("Line")


class LineOrder(Generic[Line]):
    """One per batch and worker. A line is in it until it has a result."""

    def __init__(self) -> None:
        self._ready: deque[Line] = deque()
        self._alike: dict[Line, deque[Line]] = {}  # those that begin as a line does, and are not asked yet

    @property
    def is_low(self) -> bool:
        """Whether more lines are wanted."""
        return len(self._ready) < LINES_LOW

    def __bool__(self) -> bool:
        """Whether a line can be asked."""
        return bool(self._ready)

    def add(self, lines: Iterable[tuple[Line, bool]]) -> None:
        """The lines of a piece in their order, each with whether it begins as the one before does."""
        alike: deque[Line] | None = None
        for line, follows in lines:
            if alike is not None and follows:
                alike.append(line)
            else:
                alike = deque()
                self._ready.append(line)
            self._alike[line] = alike

    def take(self) -> Line:
        """The next to be asked."""
        return self._ready.popleft()

    def again(self, line: Line) -> None:
        """One that was asked has no result, and is the next."""
        self._ready.appendleft(line)

    def end(self, line: Line) -> None:
        """One has its result."""
        alike = self._alike.pop(line)
        for _ in range(min(FOLLOWERS, len(alike))):
            self._ready.appendleft(alike.popleft())

    def clear(self) -> None:
        """None can be asked."""
        self._ready.clear()
