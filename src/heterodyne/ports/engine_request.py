"""What is sent to an engine."""

from typing import final


@final
class EngineRequest:
    """One POST to an engine."""

    __slots__ = ("body", "path")

    def __init__(self, path: str, body: bytes) -> None:
        self.path = path
        self.body = body
