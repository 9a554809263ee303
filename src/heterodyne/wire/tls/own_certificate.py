"""Reads a certificate of ours by shaking hands with ourselves: that also proves that the key is its key."""

import ssl
from typing import Final

from msgspec import Struct

from heterodyne.wire.tls.peer_names import peer_names

# X509_V_FLAG_NO_CHECK_TIME of OpenSSL, for which Python has no name: when it was over is what we want to read.
AT_ANY_TIME: Final = ssl.VerifyFlags(0x200000)
FLIGHTS_MAX: Final = 8  # a handshake takes three


class OwnCertificate(Struct, frozen=True, kw_only=True):
    """What others are shown."""

    names: tuple[str, ...]
    ends_at: float  # by the wall's clock


def own_certificate(certificate: str, key: str | None, *, is_door: bool) -> OwnCertificate:
    """Raises OSError where a file cannot be read, is no certificate, or none for this; `is_door`: clients see it."""
    showing = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if is_door else ssl.PROTOCOL_TLS_CLIENT)
    looking = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT if is_door else ssl.PROTOCOL_TLS_SERVER)
    showing.load_cert_chain(certificate, key)
    looking.load_verify_locations(certificate)  # it is believed for itself
    looking.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN | AT_ANY_TIME
    for context in (showing, looking):
        context.check_hostname = False
    looking.verify_mode = ssl.CERT_REQUIRED
    if not is_door:
        showing.verify_mode = ssl.CERT_NONE
        looking.load_cert_chain(certificate, key)  # the other end has to show something, too
    seen = _shaken(showing, looking, is_door=is_door).getpeercert()
    if not seen:
        raise ssl.SSLError("the certificate was not shown")
    return OwnCertificate(names=peer_names(seen), ends_at=ssl.cert_time_to_seconds(str(seen["notAfter"])))


def _shaken(showing: ssl.SSLContext, looking: ssl.SSLContext, *, is_door: bool) -> ssl.SSLObject:
    """The end that looks, once it has seen the other's certificate."""
    there, here = ssl.MemoryBIO(), ssl.MemoryBIO()
    shows = showing.wrap_bio(there, here, server_side=is_door)
    looks = looking.wrap_bio(here, there, server_side=not is_door)
    pending = [looks, shows] if is_door else [shows, looks]
    for _ in range(FLIGHTS_MAX):
        for end in tuple(pending):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            pending.remove(end)
        if not pending:
            return looks
    raise ssl.SSLError("the handshake with ourselves did not end")
