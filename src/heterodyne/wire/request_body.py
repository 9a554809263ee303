"""The body of a request as it comes in, within what may be held of it."""

from io import BytesIO
from typing import Final, final

from heterodyne.domain.errors import Overloaded
from heterodyne.wire.limits import BodyBudget, WireLimits, body_too_large
from heterodyne.wire.message import BodySink

STRETCH_BYTES: Final = 262144  # of a body that goes to a sink; each may take as long as a whole body that is held


@final
class RequestBody:
    """One per connection, empty between two bodies. A body that came in one piece is that piece.

    What goes to a sink is not held, and takes nothing of the budget.
    """

    __slots__ = ("_budget", "_bytes_max", "_first", "_joined", "_limits", "_seen_bytes", "_sink", "size")

    def __init__(self, limits: WireLimits, budget: BodyBudget) -> None:
        self._limits = limits
        self._budget = budget
        self._bytes_max = 0  # may come; at 0 it is read past
        self._sink: BodySink | None = None
        self._seen_bytes = 0  # of what goes to a sink, when it was last found to have advanced
        self._first = b""
        # It becomes bytes without being copied, unlike an array, and does not weigh fifty bytes a piece.
        self._joined: BytesIO | None = None
        self.size = 0  # bytes that have come

    def begin(self, bytes_max: int, sink: BodySink | None) -> None:
        """So much of it may come, to be held or for the sink."""
        self._bytes_max = bytes_max
        self._sink = sink

    @property
    def may_be_any(self) -> bool:
        """Whether it may be as large as any."""
        return self._sink is not None or self._bytes_max >= self._limits.body_bytes_max

    @property
    def has_sink(self) -> bool:
        """Whether it is not held."""
        return self._sink is not None

    def has_advanced(self) -> bool:
        """Whether another stretch has gone to the sink since this was so; what is held is not asked to advance."""
        if self._sink is None or self.size - self._seen_bytes < STRETCH_BYTES:
            return False
        self._seen_bytes = self.size
        return True

    def add(self, piece: bytes) -> None:
        """In the order in which they came; raises where it is too large."""
        is_first = not self.size
        if self._sink is not None:
            self._pass_on(piece, self._sink)
        elif self._is_held(len(piece)):
            if is_first:
                self._first = piece
            else:
                self._join(piece)

    def add_part(self, piece: memoryview) -> None:
        """The same of a part of other bytes, which are not kept for its sake."""
        if self._sink is not None:
            self._pass_on(piece, self._sink)
        elif self._is_held(len(piece)):
            self._join(piece)

    def take(self) -> bytes:
        """All of it; from here on there is none, and what it has of the budget is for the taker to give back."""
        body = self._first if self._joined is None else self._joined.getvalue()
        self._clear()
        return body

    def drop(self) -> None:
        """Whatever has come is not wanted."""
        if self._sink is not None:
            self._sink.discard()
        elif self._bytes_max:
            self._budget.body_bytes -= self.size
        self._clear()

    def _pass_on(self, piece: bytes | memoryview, sink: BodySink) -> None:
        self.size += len(piece)
        if self.size > self._bytes_max:
            raise body_too_large(self.size, self._bytes_max)
        sink.write(piece)

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
        self._sink, self._seen_bytes = None, 0


def no_memory() -> Overloaded:
    """For a head, or for a body."""
    return Overloaded("There is no memory for this request; try again shortly.", retry_after_s=1)
