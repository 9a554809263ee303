"""Pure: whether a request was meant for this gateway, judged by the name it was called by.

A web page can point a name of its own at 127.0.0.1 and have a visitor's browser ask a keyless gateway there. The
browser cannot lie about the name, so a gateway without keys answers only to names that are its own.
"""

from typing import Final

from heterodyne.domain.errors import UnknownHost

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")


class HostNames:
    """The names a keyless gateway answers to; one with keys answers to any."""

    def __init__(self, names: tuple[str, ...], *, has_keys: bool) -> None:
        self._own = frozenset(name.lower().encode() for name in (*LOOPBACK_NAMES, *names))
        self._is_open = has_keys

    def check(self, host: bytes | None) -> None:
        """Raise when the request was sent to another name; one without a name did not come from a browser."""
        if self._is_open or self.is_own(host):
            return
        assert host is not None
        raise UnknownHost(
            f"This gateway is not called {host.decode('ascii', 'replace')[:100]!r}. Ask it by its own address, "
            "name it in `gateway.host_names`, or give it keys."
        )

    def is_own(self, host: bytes | None) -> bool:
        """Whether it was sent to one of the names that are ours, keys or not."""
        if host is None:
            return True
        name, colon, port = host.rpartition(b":")
        return (name if colon and port.isdigit() else host).lower() in self._own
