"""The address that a program on this machine calls, of what listens at an address of the settings."""

ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - read, not bound


def reachable_host(host: str) -> str:
    """Every address of the machine is also its own."""
    return ANYWHERE.get(host, host)


def local_url(scheme: str, host: str, port: int) -> str:
    """A URL that can be called from here."""
    host = reachable_host(host)
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
