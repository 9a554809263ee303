"""The files of one side of a connection: who we are, whom we believe, and who was revoked."""

import os

from msgspec import Struct

Stamp = tuple[tuple[int, int, int] | None, ...]


class TlsFiles(Struct, frozen=True, kw_only=True):
    """PEM files; the key is that of the certificate."""

    certificate: str | None = None  # with the chain up to whom others believe
    key: str | None = None
    authorities: str | None = None  # whose certificates are believed
    revoked: str | None = None  # their lists of certificates that no longer are

    def stamp(self) -> Stamp:
        """Another one as soon as any of them was written anew, or put in the place of the last."""
        return tuple(_stamp(file) for file in (self.certificate, self.key, self.authorities, self.revoked))


def _stamp(file: str | None) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file) if file is not None else None
    except OSError:
        return None
    return None if found is None else (found.st_mtime_ns, found.st_ino, found.st_size)
