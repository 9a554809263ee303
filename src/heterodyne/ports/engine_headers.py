"""What both sides of an engine are asked with."""

from typing import Protocol


class EngineHeaders(Protocol):
    """How an engine wants its requests to begin. Pure: no sockets, no clocks."""

    def header_lines(self, key: str) -> bytes:
        """The lines, each with its end, of every request to it: the key, where there is one, and its own."""
        ...
