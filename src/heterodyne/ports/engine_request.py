"""What is sent to an engine."""

from collections.abc import Sequence
from typing import Final, final

JSON: Final = "application/json"


@final
class EngineRequest:
    """One POST to an engine."""

    __slots__ = ("body", "media_type", "not_carried", "path")

    def __init__(self, path: str, body: bytes, not_carried: Sequence[str] = (), media_type: str = JSON) -> None:
        self.path = path
        self.body = body
        self.not_carried = not_carried  # by path, hints of the request that this engine has no words for
        self.media_type = media_type  # of the body
