"""How guards elsewhere are asked about one request and its answer, as whoever holds these knows it."""

from collections.abc import Callable, Sequence
from typing import Protocol

from heterodyne.domain.guard_verdict import Direction
from heterodyne.safety.remote.judged import Looked


class PendingLook(Protocol):
    """A verdict that is waited for."""

    def cancel(self) -> None:
        """Nobody waits for it any more."""
        ...


class RemoteLooks(Protocol):
    """Those of one request."""

    def flag(self, direction: Direction, pieces: Sequence[bytes], media_type: str = "") -> None:
        """Ask guards whose policies flag, while everything goes on."""
        ...

    def ask(
        self, direction: Direction, pieces: Sequence[bytes], done: Callable[[Looked], None], media_type: str = ""
    ) -> PendingLook:
        """Ask those whose policies block; `done` is told once, later, unless nobody waits any more."""
        ...
