"""Issuers of tokens over the TLS of a test's own authority."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from heterodyne.domain.tls_files import TlsFiles
from heterodyne.identity.settings import IssuerSettings
from heterodyne.testing.token_issuer import TokenIssuer
from heterodyne.wire.tls.contexts import door_context
from tests.support.certificates import Authority

AUDIENCE = "gateway"


class Trusted:
    """An issuer that runs, and what a gateway has to be told of it."""

    def __init__(self, issuer: TokenIssuer, authority: Authority) -> None:
        self.issuer = issuer
        self.authority = authority

    def settings(self, **more: Any) -> IssuerSettings:
        given = {"issuer_url": self.issuer.url, "audiences": (AUDIENCE,), "tls_authorities": str(self.authority.file)}
        return IssuerSettings(**{**given, **more})


@asynccontextmanager
async def trusted_issuer(folder: Path) -> AsyncIterator[Trusted]:
    authority = Authority(folder, "issuers")
    own = authority.issue("issuer", "127.0.0.1")
    issuer = TokenIssuer(door_context(TlsFiles(certificate=str(own.certificate), key=str(own.key))))
    await issuer.open()
    try:
        yield Trusted(issuer, authority)
    finally:
        await issuer.close()
