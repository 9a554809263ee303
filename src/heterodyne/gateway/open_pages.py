"""Who asks for a page that needs no key: somebody on this machine, the holder of a key, or a stranger.

Names of models and tenants are on such pages only for those who may see them. A client on this machine is believed by
its address, unless a proxy says that it asks for somebody else, or the name it calls us by is not ours: a web page can
point a name of its own at 127.0.0.1 and have a visitor's browser ask.
"""

from collections.abc import Mapping, Sequence
from ipaddress import ip_address

from heterodyne.admission.callers import LOCAL, STRANGER, CallerRing
from heterodyne.admission.host_names import HostNames
from heterodyne.domain.errors import IssuerUnavailable, Unauthenticated
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.certified import certified

FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"via")


def page_caller(
    headers: Mapping[bytes, bytes],
    peer: str,
    callers: CallerRing,
    host_names: HostNames,
    now_wall_s: float,
    *,
    certificate_names: Sequence[str] | None = None,
    needs_key: bool = False,
) -> Caller:
    """Never raises but where `needs_key`: then this machine must show one too."""
    is_ours = host_names.is_own(headers.get(b"host"))
    if is_ours and not needs_key and _is_here(peer) and not any(name in headers for name in FORWARDED):
        return LOCAL
    try:
        line, rules = headers.get(b"authorization"), callers.certificates
        if rules is None:
            caller = callers.check(line, now_wall_s)
        else:
            caller = certified(rules, certificate_names, line, callers, now_wall_s)
    except (Unauthenticated, IssuerUnavailable):
        if needs_key:
            raise
        return STRANGER
    return caller if is_ours or not callers.is_keyless else STRANGER


def _is_here(peer: str) -> bool:
    """Whether the address is of this machine; a socket that has none is no client's from afar."""
    try:
        address = ip_address(peer)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
