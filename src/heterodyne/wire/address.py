"""Where a server listens."""

from typing import NamedTuple


class Address(NamedTuple):
    """As connections to it are told apart."""

    host: str
    port: int
    tls: bool = False
