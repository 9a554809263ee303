"""Which files one side of a connection goes by: who we are, whom we believe, and who was revoked."""

from msgspec import Struct


class TlsFiles(Struct, frozen=True, kw_only=True):
    """PEM files; the key is that of the certificate."""

    certificate: str | None = None  # with the chain up to whom others believe
    key: str | None = None
    authorities: str | None = None  # whose certificates are believed
    revoked: str | None = None  # their lists of certificates that no longer are
