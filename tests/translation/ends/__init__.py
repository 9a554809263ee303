"""What a scripted engine at the end of a chain reads and says: one file for each API that it may speak."""

from typing import Protocol

from heterodyne.testing.scripted_engine import Behaviour
from tests.translation.drawing import Drawing
from tests.translation.meant import Asked, Said


class End(Protocol):
    """One API, from the engine's side."""

    def path(self, *, stream: bool) -> str:
        """Where the engine is asked."""
        ...

    def asked_of(self, body: bytes) -> Asked:
        """The meaning of what it is asked."""
        ...

    def saying(self, said: Said, drawing: Drawing) -> Behaviour:
        """Whole, or in pieces that begin and end anywhere."""
        ...

    def talking(self) -> Behaviour:
        """A stream that goes on for longer than anybody listens."""
        ...

    def breaking(self) -> Behaviour:
        """A stream that is lost after two words."""
        ...

    def refusing(self, status: int, message: str) -> Behaviour: ...
