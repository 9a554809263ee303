"""Where a server listens."""

from typing import Final, NamedTuple

PORTS: Final = {False: 80, True: 443}  # of http and https


class Address(NamedTuple):
    """As connections to it are told apart."""

    host: str
    port: int
    tls: bool = False

    @property
    def authority(self) -> str:
        """As the `host` of a request has it: without the port that its scheme means anyway."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.tls] else f"{host}:{self.port}"
