"""Where a server listens."""

from typing import Final, NamedTuple

from heterodyne.domain.tls_files import TlsFiles

PORTS: Final = {False: 80, True: 443}  # of http and https


class Address(NamedTuple):
    """As connections to it are told apart."""

    host: str
    port: int
    tls: bool = False
    tls_files: TlsFiles | None = None  # None: whom this system believes

    @property
    def authority(self) -> str:
        """As the `host` of a request has it: without the port that its scheme means anyway."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.tls] else f"{host}:{self.port}"
