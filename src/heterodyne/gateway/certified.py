"""Who sends a request over a connection that may have shown a certificate."""

from collections.abc import Sequence
from typing import Final

from heterodyne.admission.callers import CONSOLE, CallerRing
from heterodyne.admission.certificates import CertificateRules
from heterodyne.domain.errors import Unauthenticated
from heterodyne.domain.tenant import Caller

NAMES_SHOWN: Final = 3


def certified(
    rules: CertificateRules,
    names: Sequence[str] | None,
    authorization: bytes | None,
    callers: CallerRing,
    now_wall_s: float,
) -> Caller:
    """A key that the request brings counts before the one that the certificate stands for; `names` is None where there
    is no certificate. Raises where nothing opens, or a certificate is required and missing."""
    key = rules.key_of(names) if authorization is None and names else None
    if key is not None:
        return callers.of_key(key, now_wall_s)
    if authorization is None and names and not callers.is_keyless:
        shown = ", ".join(names[:NAMES_SHOWN])
        raise Unauthenticated(
            f"The certificate ({shown}) stands for no API key here: send `Authorization: Bearer <key>`."
        )
    caller = callers.check(authorization, now_wall_s)
    if rules.is_required and names is None and caller.key != CONSOLE.key:
        raise Unauthenticated("A client certificate is required, beside any API key.")
    return caller
