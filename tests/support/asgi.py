"""Asks an ASGI application something, without a socket."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct


class AsgiAnswer(Struct, frozen=True):
    """A whole answer."""

    status: int
    headers: dict[str, str]
    body: bytes
    lines: tuple[tuple[str, str], ...] = ()  # of the head, those of one name too

    def all_of(self, name: str) -> list[str]:
        """What every header of a name says."""
        return [value for one, value in self.lines if one == name]

    def json(self) -> Any:
        return msgspec.json.decode(self.body)


async def ask(
    app: Any,
    method: str,
    path: str,
    *,
    headers: dict[str, str] | None = None,
    pieces: Sequence[bytes] = (b"",),
    client: tuple[str, int] | None = None,
) -> AsgiAnswer:
    """One request, its body in these pieces."""
    waiting, sent = list(pieces), []
    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in (headers or {}).items()],
        "server": ("127.0.0.1", 8081),
        "client": client,
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
    }

    async def receive() -> dict[str, Any]:
        piece = waiting.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(waiting)}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start = sent[0]
    lines = tuple((name.decode(), value.decode()) for name, value in start["headers"])
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return AsgiAnswer(start["status"], dict(lines), body, lines)
