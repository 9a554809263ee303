"""A small answer given at once: health, models, metrics, a control call."""

from typing import TypeVar
from urllib.parse import parse_qs

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import HeterodyneError, InvalidField, MalformedJson
from heterodyne.wire.message import HttpRequest, status_line

JSON = b"application/json"
TEXT = b"text/plain; version=0.0.4; charset=utf-8"


class EmulatorResponse(Struct, frozen=True, kw_only=True):
    """Status, kind and body."""

    status: int = 200
    body: bytes = b""
    kind: bytes = JSON
    headers: bytes = b""

    def encode(self, *, keeps_alive: bool) -> bytes:
        """The whole answer."""
        close = b"" if keeps_alive else b"connection: close\r\n"
        return b"%bcontent-type: %b\r\n%b%bcontent-length: %d\r\n\r\n%b" % (
            status_line(self.status), self.kind, self.headers, close, len(self.body), self.body,
        )  # fmt: skip


def json_response(value: object, status: int = 200) -> EmulatorResponse:
    """A value as JSON."""
    return EmulatorResponse(status=status, body=msgspec.json.encode(value))


class Refusal(Struct, frozen=True, kw_only=True):
    """Why there is no answer; each engine has a shape of its own for it."""

    status: int
    message: str
    param: str | None = None
    code: str = ""  # of our own error, where there is one


def refusal_of(error: HeterodyneError) -> Refusal:
    """Our error as an engine's refusal."""
    return Refusal(status=error.status, message=error.message, param=error.param, code=error.code)


ControlBody = TypeVar("ControlBody")


def read(request: HttpRequest, kind: type[ControlBody]) -> ControlBody:
    """A control call's body; raises with what is wrong. An empty one has no fields."""
    try:
        return msgspec.json.decode(request.body or b"{}", type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise (InvalidField if isinstance(error, msgspec.ValidationError) else MalformedJson)(str(error)) from error


def query(request: HttpRequest) -> dict[str, list[str]]:
    """The words behind the question mark."""
    return parse_qs(request.query.decode("latin-1"))
