"""What both sides of an engine are asked with."""

from collections.abc import Callable, Mapping
from typing import Protocol

# Of the path and the body of a POST, the lines that sign it, each with its end.
Signer = Callable[[str, bytes], bytes]


class EngineHeaders(Protocol):
    """How an engine wants its requests to begin. Pure: no sockets, no clocks."""

    def header_lines(self, key: str) -> bytes:
        """The lines, each with its end, of every request to it: the key, where there is one, and its own."""
        ...

    def signer(self, authority: str, variable: str, environment: Mapping[str, str]) -> Signer | None:
        """What signs requests to a host by the key in a variable; None: the key itself goes with them."""
        ...
