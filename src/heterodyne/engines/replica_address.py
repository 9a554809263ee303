"""Where a replica listens, as connections to it are told apart."""

from heterodyne.domain.fleet import Replica
from heterodyne.wire.address import Address


def replica_address(replica: Replica, port: int | None = None) -> Address:
    """Its own port, or another of the same machine, which is a page of the engine's and speaks no TLS."""
    if port is not None:
        return Address(replica.host, port)
    return Address(replica.host, replica.port, replica.tls, replica.tls_files)
