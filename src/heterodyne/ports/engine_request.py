"""What is sent to an engine."""

from collections.abc import Sequence
from typing import final


@final
class EngineRequest:
    """One POST to an engine."""

    __slots__ = ("body", "not_carried", "path")

    def __init__(self, path: str, body: bytes, not_carried: Sequence[str] = ()) -> None:
        self.path = path
        self.body = body
        self.not_carried = not_carried  # by path, hints of the request that this engine has no words for
