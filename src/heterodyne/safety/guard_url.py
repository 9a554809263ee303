"""Where a guard of somebody else's is asked."""

import re
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from heterodyne.domain.errors import InvalidSpec

PORTS: Final = {"http": 80, "https": 443}
_UNSENDABLE: Final = re.compile(r"[^\x21-\x7e]")  # in a request line


class GuardURL(NamedTuple):
    """An address, taken apart."""

    host: str
    port: int
    tls: bool
    path: str  # with the query


def read_guard_url(url: str) -> GuardURL:
    """Raises InvalidSpec, which does not repeat the address: it may hold a secret."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidSpec("`url` is no URL") from None
    if parts.scheme not in PORTS or not parts.hostname or _UNSENDABLE.search(url):
        raise InvalidSpec("`url` must begin with https:// or http://, have a host and no spaces")
    if parts.username is not None or parts.password is not None:
        raise InvalidSpec("`url` has a user in it; name a variable with a key in `api_key_env` instead")
    query = f"?{parts.query}" if parts.query else ""
    return GuardURL(parts.hostname, port or PORTS[parts.scheme], parts.scheme == "https", f"{parts.path or '/'}{query}")
