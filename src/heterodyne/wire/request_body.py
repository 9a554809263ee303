"""The body of a request as it comes in, within what may be held of it."""

from io import BytesIO
from typing import final

from heterodyne.domain.errors import Overloaded
from heterodyne.wire.limits import BodyBudget, WireLimits, body_too_large


@final
class RequestBody:
    """One per connection, empty between two bodies. A body that came in one piece is that piece."""

    __slots__ = ("_budget", "_bytes_max", "_first", "_joined", "_limits", "size")

    def __init__(self, limits: WireLimits, budget: BodyBudget) -> None:
        self._limits = limits
        self._budget = budget
        self._bytes_max = 0  # may be held; at 0 it is read past
        self._first = b""
        # It becomes bytes without being copied, unlike an array, and does not weigh fifty bytes a piece.
        self._joined: BytesIO | None = None
        self.size = 0  # bytes that have come

    def begin(self, bytes_max: int) -> None:
        """So much of it may be held."""
        self._bytes_max = bytes_max

    @property
    def may_be_any(self) -> bool:
        """Whether it may be as large as any."""
        return self._bytes_max >= self._limits.body_bytes_max

    def add(self, piece: bytes) -> None:
        """In the order in which they came; raises where it is too large."""
        is_first = not self.size
        if self._is_held(len(piece)):
            if is_first:
                self._first = piece
            else:
                self._join(piece)

    def add_part(self, piece: memoryview) -> None:
        """The same of a part of other bytes, which are not kept for its sake."""
        if self._is_held(len(piece)):
            self._join(piece)

    def take(self) -> bytes:
        """All of it; from here on there is none, and what it has of the budget is for the taker to give back."""
        body = self._first if self._joined is None else self._joined.getvalue()
        self._clear()
        return body

    def drop(self) -> None:
        """Whatever has come is not wanted."""
        if self._bytes_max:
            self._budget.body_bytes -= self.size
        self._clear()

    def _is_held(self, size: int) -> bool:
        """Count so many bytes; False: they are read past."""
        self.size = body_bytes = self.size + size
        bytes_max = self._bytes_max
        if not bytes_max:
            if body_bytes > self._limits.body_bytes_max:
                raise body_too_large(body_bytes, self._limits.body_bytes_max)
            return False
        budget = self._budget
        budget.body_bytes += size
        if body_bytes > bytes_max:
            raise body_too_large(body_bytes, bytes_max)
        if budget.body_bytes > self._limits.bodies_bytes_max:
            raise Overloaded("Too many request bodies are held; try again shortly.", retry_after_s=1)
        return True

    def _join(self, piece: bytes | memoryview) -> None:
        joined = self._joined
        if joined is None:
            self._joined = joined = BytesIO()
            joined.write(self._first)
            self._first = b""
        try:
            joined.write(piece)
        except MemoryError as error:
            raise no_memory() from error

    def _clear(self) -> None:
        self._first, self._joined, self.size = b"", None, 0


def no_memory() -> Overloaded:
    """For a head, or for a body."""
    return Overloaded("There is no memory for this request; try again shortly.", retry_after_s=1)
