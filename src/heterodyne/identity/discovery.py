"""Asks an issuer where it is asked what, and for its keys: https alone, no redirections, a bound on every answer."""

from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from heterodyne.domain.tls_files import TlsFiles
from heterodyne.wire.address import PORTS, Address
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import WireError
from heterodyne.wire.fetch import get

WELL_KNOWN: Final = "/.well-known/openid-configuration"
DOCUMENT_BYTES_MAX: Final = 1 << 18
FETCH_TIMEOUT_S: Final = 5.0  # of one answer


class IssuerSilent(Exception):
    """Why an issuer could not be asked; in words for whoever runs the gateway."""


class Discovered(Struct, frozen=True):
    """What it says of itself, as far as we ask for it."""

    issuer: str
    jwks_uri: str
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class IssuerPlace(Struct, frozen=True, kw_only=True):
    """Where an issuer is, and who vouches for it."""

    url: str
    tls_authorities: str | None = None

    def address_of(self, url: str) -> tuple[Address, str]:
        """Where a URL of its is, and the path there; raises IssuerSilent for one that is not https."""
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.hostname or parts.username is not None:
            raise IssuerSilent(f"{url[:200]} is no https URL")
        files = None if self.tls_authorities is None else TlsFiles(authorities=self.tls_authorities)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return Address(parts.hostname, parts.port or PORTS[True], True, files), path


async def discover(pool: ConnectionPool, place: IssuerPlace) -> Discovered:
    """Raises IssuerSilent."""
    body = await fetch_document(pool, place, place.url.rstrip("/") + WELL_KNOWN)
    try:
        found = msgspec.json.decode(body, type=Discovered)
    except (ValueError, RecursionError) as error:
        raise IssuerSilent(f"{place.url}{WELL_KNOWN}: {error}") from error
    if found.issuer != place.url:
        raise IssuerSilent(f"it calls itself {found.issuer[:200]!r}, and not {place.url!r}")
    return found


async def fetch_document(pool: ConnectionPool, place: IssuerPlace, url: str) -> bytes:
    """Raises IssuerSilent where there is no whole answer in time."""
    address, path = place.address_of(url)
    try:
        answer = await get(pool, address, path, timeout_s=FETCH_TIMEOUT_S, headers=b"accept: application/json\r\n")
    except WireError as error:
        raise IssuerSilent(f"{url}: {error.describe('issuer')}") from error
    if answer.status != 200:
        raise IssuerSilent(f"{url}: answered {answer.status}")
    if len(answer.body) > DOCUMENT_BYTES_MAX:
        raise IssuerSilent(f"{url}: {len(answer.body)} bytes; at most {DOCUMENT_BYTES_MAX} are read")
    return answer.body
