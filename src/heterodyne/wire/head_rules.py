"""Which heads leave no doubt about which host a request is for and where it ends; the rest is refused.

llhttp forgives what another server on the way may read differently, and what two readers take for two different
requests is a way to hide one request in another.
"""

import re
from typing import Final, final

from heterodyne.domain.errors import MalformedHttp

HOST: Final = re.compile(rb"[A-Za-z0-9._~%:\[\]-]*")
# HTTP allows a tab there, and some servers do not know it: they would take the coding for an unknown one.
TAB_BEFORE_CODING: Final = re.compile(rb"\ntransfer-encoding: *\t", re.IGNORECASE)
# Of two of these, one reader would believe the first and another the last.
SINGLE: Final = frozenset(
    (
        b"authorization",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"expect",
        b"host",
        b"inference-header-content-length",
        b"transfer-encoding",
    )
)
OWN_PREFIX: Final = b"x-heterodyne-"
NO_HOST: Final = b"\n"  # no header has this value


@final
class HeadRules:
    """Of one connection, and what its last head said."""

    __slots__ = ("has_tab", "host", "speaks_chunked")

    def __init__(self) -> None:
        self.host: bytes | None = NO_HOST  # the last one that was found to be well-formed
        self.speaks_chunked = False  # HTTP/1.1
        # Whether a tab comes before a transfer coding in the piece that is read; None: not looked yet.
        self.has_tab: bool | None = None

    def check(self, version: str, host: bytes | None, coding: bytes | None, begun: bytearray, piece: bytes) -> None:
        """Raise for a head that leaves a doubt; it began in the bytes that were read before the piece."""
        check_version(version)
        self.speaks_chunked = version == "1.1"
        check_host(host, is_old=not self.speaks_chunked)
        if coding is not None:
            has_tab = self.has_tab
            if has_tab is None:
                self.has_tab = has_tab = has_tab_before_coding(bytes(begun) + piece)
            check_coding(coding, has_tab=has_tab, is_old=not self.speaks_chunked)
        self.host = host if self.speaks_chunked else NO_HOST


def joined(name: bytes, first: bytes, second: bytes) -> bytes:
    """The value of a header that came twice; raises where it may come once only."""
    if name in SINGLE or name.startswith(OWN_PREFIX):
        raise MalformedHttp(f"The header {name.decode('ascii')[:100]!r} came twice; send it once.")
    return first + (b"; " if name == b"cookie" else b", ") + second


def check_host(host: bytes | None, *, is_old: bool) -> None:
    """Raise unless there is one host, with or without a port; HTTP/1.0 may do without."""
    if host is None:
        if not is_old:
            raise MalformedHttp("HTTP/1.1 asks for the header 'host', and there is none.")
    elif not HOST.fullmatch(host):
        raise MalformedHttp("The header 'host' is not one host name, with or without a port.")


def check_coding(coding: bytes, *, has_tab: bool, is_old: bool) -> None:
    """Raise for a transfer coding other than plain `chunked`."""
    if is_old:
        raise MalformedHttp("HTTP/1.0 has no transfer codings; send `Content-Length`.")
    if has_tab or coding.lower() != b"chunked":
        raise MalformedHttp("The only transfer coding is `chunked`, alone and without tabs.")


def has_tab_before_coding(head: bytes) -> bool:
    """Whether a tab stands before a transfer coding, which the parser does not say."""
    return b"\t" in head and TAB_BEFORE_CODING.search(head) is not None


def check_version(version: str) -> None:
    """Raise for a version other than HTTP/1.0 and HTTP/1.1."""
    if version not in ("1.0", "1.1"):
        raise MalformedHttp(f"HTTP/{version} is not spoken here; speak HTTP/1.1.")


def without_upgrade(method: bytes, url: bytes, version: str, headers: dict[bytes, bytes]) -> bytes:
    """The head without its offer of another protocol."""
    line = b"%b %b HTTP/%b" % (method, url, version.encode())
    fields = [b"%b: %b" % field for field in headers.items() if field[0] != b"upgrade"]
    return b"\r\n".join((line, *fields, b"", b""))
