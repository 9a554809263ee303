"""Answers that are given at once: small pages and refusals in vLLM's shape."""

import msgspec
from msgspec import Struct

from heterodyne.wire.message import status_line

JSON = b"application/json"
TEXT = b"text/plain; version=0.0.4; charset=utf-8"
TYPES = {400: "BadRequestError", 404: "NotFoundError", 503: "ServiceUnavailableError"}


class JaxPage(Struct, frozen=True, kw_only=True):
    """Status, kind and body."""

    status: int = 200
    body: bytes = b""
    kind: bytes = JSON

    def encode(self, *, keeps_alive: bool) -> bytes:
        """The whole answer."""
        return b"%bcontent-type: %b\r\n%bcontent-length: %d\r\n\r\n%b" % (
            status_line(self.status),
            self.kind,
            b"" if keeps_alive else b"connection: close\r\n",
            len(self.body),
            self.body,
        )


def json_page(value: object) -> JaxPage:
    """A value as JSON."""
    return JaxPage(body=msgspec.json.encode(value))


def refusal_page(status: int, message: str, param: str | None = None) -> JaxPage:
    """OpenAI's shape: everything under `error`."""
    kind = TYPES.get(status) or ("InternalServerError" if status >= 500 else "BadRequestError")
    error = {"message": message, "type": kind, "param": param, "code": status}
    return JaxPage(status=status, body=msgspec.json.encode({"error": error}))
