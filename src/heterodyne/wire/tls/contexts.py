"""Makes the two contexts there are: of a door that others come to, and of somebody who goes to others' doors."""

import ssl
from collections.abc import Callable
from typing import Final, Literal

from heterodyne.domain.tls_files import TlsFiles
from heterodyne.wire.tls.failures import failure_word

TlsVersion = Literal["1.2", "1.3"]

VERSIONS: Final = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


def door_context(
    files: TlsFiles, *, version_min: TlsVersion = "1.2", refused: Callable[[str], None] | None = None
) -> ssl.SSLContext:
    """Shows its certificate, and asks for one where there are authorities; who brings none comes in as nobody.

    `refused` is told why a handshake failed. Raises OSError where a file cannot be read or is not what it should be.
    """
    if files.certificate is None:
        raise FileNotFoundError("a door needs a certificate")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = VERSIONS[version_min]
    context.load_cert_chain(files.certificate, files.key)
    if files.authorities is not None:
        _believe(context, files.authorities, files.revoked)
        context.verify_mode = ssl.CERT_OPTIONAL
    if refused is not None:
        context.sslobject_class = _telling(refused)
    return context


def outward_context(files: TlsFiles) -> ssl.SSLContext:
    """Believes the authorities, or those of this system where there are none; shows the certificate it has."""
    context = ssl.create_default_context(cafile=files.authorities)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if files.revoked is not None:
        _believe(context, None, files.revoked)
    if files.certificate is not None:
        context.load_cert_chain(files.certificate, files.key)
    return context


def _believe(context: ssl.SSLContext, authorities: str | None, revoked: str | None) -> None:
    for file in (authorities, revoked):
        if file is not None:
            context.load_verify_locations(file)
    if revoked is not None:
        context.verify_flags |= ssl.VerifyFlags.VERIFY_CRL_CHECK_LEAF


def _telling(refused: Callable[[str], None]) -> type[ssl.SSLObject]:
    """Event loops let go of a connection whose handshake failed without a word to the protocol behind it."""

    class TellingHandshake(ssl.SSLObject):
        def do_handshake(self) -> None:
            try:
                super().do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                raise
            except ssl.SSLError as error:
                refused(failure_word(error))
                raise

    return TellingHandshake
