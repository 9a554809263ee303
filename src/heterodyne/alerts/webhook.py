"""Where notices are sent: one table of the settings, with what the environment adds to it.

The address of a webhook is often all that it takes to post there, so nothing prints more of it than scheme and host.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct

from heterodyne.alerts.alert import Severity
from heterodyne.domain.errors import InvalidSpec

PORTS = {"http": 80, "https": 443}
_UNSENDABLE = re.compile(r"[^\x21-\x7e]")  # in a request line
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_OURS = frozenset({"host", "connection", "content-length", "content-type", "transfer-encoding"})


class WebhookFormat(StrEnum):
    """How a notice is written."""

    GENERIC = "generic"  # every field, as JSON
    SLACK = "slack"  # a line of text, as Slack, Mattermost and others take it


class Webhook(Struct, frozen=True, kw_only=True):
    """One receiver."""

    name: str
    host: str
    port: int
    tls: bool
    path: str  # with the query
    format: WebhookFormat
    min_severity: Severity
    headers: bytes  # as they are sent

    @property
    def place(self) -> str:
        """As much of the address as may be shown."""
        return f"{'https' if self.tls else 'http'}://{self.host}"

    def __repr__(self) -> str:
        return f"Webhook(name={self.name!r}, place={self.place!r})"

    def wants(self, severity: Severity) -> bool:
        """Whether it gets such alerts."""
        return severity is Severity.PAGE or self.min_severity is Severity.TICKET


class _Table(Struct, kw_only=True, forbid_unknown_fields=True):
    url: str | None = None
    url_env: str | None = None
    format: WebhookFormat = WebhookFormat.GENERIC
    min_severity: Severity = Severity.TICKET
    headers_env: dict[str, str] = {}


def read_webhook(name: str, table: Mapping[str, Any], environment: Mapping[str, str]) -> Webhook:
    """One table of `[alerts.webhooks]`; raises InvalidSpec, which never repeats the address."""
    try:
        given = msgspec.convert(dict(table), _Table)
    except msgspec.ValidationError as error:
        raise InvalidSpec(str(error)) from None
    parts = _split(_address(given, environment))
    scheme, host = parts.scheme, parts.hostname or ""
    query = f"?{parts.query}" if parts.query else ""
    return Webhook(
        name=name,
        host=host,
        port=_port(parts) or PORTS[scheme],
        tls=scheme == "https",
        path=f"{parts.path or '/'}{query}",
        format=given.format,
        min_severity=given.min_severity,
        headers=b"".join(_header(one, variable, environment) for one, variable in given.headers_env.items()),
    )


def _address(given: _Table, environment: Mapping[str, str]) -> str:
    if (given.url is None) == (given.url_env is None):
        raise InvalidSpec("give either `url` or `url_env`")
    if given.url is not None:
        return given.url
    assert given.url_env is not None
    return _variable(given.url_env, environment).strip()


def _split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
    except ValueError:
        raise InvalidSpec("the address is no URL") from None
    if parts.scheme not in PORTS or not parts.hostname or _UNSENDABLE.search(address):
        raise InvalidSpec("the address must begin with https:// or http://, have a host and no spaces")
    if parts.username is not None or parts.password is not None:
        raise InvalidSpec("the address has a user in it; give `headers_env` with an Authorization header instead")
    return parts


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        raise InvalidSpec("the address has a port that is none") from None


def _header(name: str, variable: str, environment: Mapping[str, str]) -> bytes:
    value = _variable(variable, environment)
    if not _HEADER_NAME.fullmatch(name) or name.lower() in _OURS:
        raise InvalidSpec(f'headers_env: "{name}" is no header that can be set')
    if not _HEADER_VALUE.fullmatch(value):
        raise InvalidSpec(f"headers_env: the value in ${variable} cannot be sent as a header")
    return f"{name}: {value}\r\n".encode("ascii")


def _variable(name: str, environment: Mapping[str, str]) -> str:
    if name not in environment:
        raise InvalidSpec(f"the environment has no variable {name}")
    return environment[name]
