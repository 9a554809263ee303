"""By which names a certificate calls its holder."""

from collections.abc import Mapping
from typing import Any, Final

KINDS: Final = ("URI", "DNS", "email")  # SPIFFE ids are URIs


def peer_names(certificate: Mapping[str, Any]) -> tuple[str, ...]:
    """Those of its subjectAltName, as OpenSSL has read it; a common name is no name any more."""
    names = certificate.get("subjectAltName", ())
    return tuple(name for wanted in KINDS for kind, name in names if kind == wanted)
