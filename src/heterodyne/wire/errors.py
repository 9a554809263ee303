"""Why an HTTP exchange that we began has no whole answer.

WireError
├── ConnectFailed        connect_failed     there is no connection
├── ConnectionBroken     connection_broken  it ended in the middle of an answer
├── ResponseStalled      response_stalled   no whole answer came in time
└── ResponseInvalid      response_invalid   what came is no HTTP answer, or is larger than it may be

What a failure means is for the caller, who knows what the other side is: an engine, a webhook, our own gateway.
"""

from typing import ClassVar


class WireError(Exception):
    """Its text names the other side as `{server}`; `detail` follows the text as it is."""

    kind: ClassVar[str] = "wire_error"  # for logs: a text may hold a path that is a secret

    def __init__(self, text: str, detail: str = "") -> None:
        super().__init__(text, detail)
        self._text = text
        self._detail = detail

    def describe(self, server: str) -> str:
        """What happened, with the caller's name for the other side."""
        return self._text.replace("{server}", server) + self._detail

    def __str__(self) -> str:
        return self.describe("server")


class ConnectFailed(WireError):
    """There is no connection: refused, unreachable, or not made in time."""

    kind = "connect_failed"


class ConnectionBroken(WireError):
    """The connection ended in the middle of an answer."""

    kind = "connection_broken"


class ResponseStalled(WireError):
    """No whole answer came in time."""

    kind = "response_stalled"


class ResponseInvalid(WireError):
    """Bytes that are no HTTP answer, or more of them than are read."""

    kind = "response_invalid"
