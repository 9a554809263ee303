"""Who answers a request that is not answered at once."""

from typing import Protocol


class Responder(Protocol):
    """Who answers the current request later: it is called when its client goes, is slow, or is ready again."""

    def client_gone(self) -> None: ...
    def client_slow(self) -> None: ...
    def client_ready(self) -> None: ...
