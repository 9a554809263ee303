"""Whether files were written anew since they were read."""

import os

from heterodyne.domain.tls_files import TlsFiles

Stamp = tuple[tuple[int, int, int] | None, ...]


def stamp_of(files: TlsFiles) -> Stamp:
    """Another one as soon as any of them was written anew, or put in the place of the last."""
    return tuple(_stamp(file) for file in (files.certificate, files.key, files.authorities, files.revoked))


def _stamp(file: str | None) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file) if file is not None else None
    except OSError:
        return None
    return None if found is None else (found.st_mtime_ns, found.st_ino, found.st_size)
