"""The latest fleet snapshot, with the bytes that every request to a replica begins with."""

import os

from heterodyne.domain.fleet import FleetSnapshot, Replica, ReplicaId
from heterodyne.ports.engine import EngineDialect
from heterodyne.wire.connection_pool import Address


class ReplicaWire:
    """What is the same in every exchange with one replica, made once."""

    __slots__ = ("_host_line", "_key_line", "address", "dialect", "replica", "response_headers")

    def __init__(self, replica: Replica, dialect: EngineDialect) -> None:
        self.replica = replica
        self.dialect = dialect
        self.address = Address(replica.host, replica.port, replica.tls)
        self.response_headers = f"x-heterodyne-pool: {replica.pool}\r\nx-heterodyne-replica: {replica.id}\r\n".encode()
        self._host_line = f"{replica.host}:{replica.port}".encode()
        key = os.environ.get(replica.api_key_env, "") if replica.api_key_env else ""
        self._key_line = f"authorization: Bearer {key}\r\n".encode() if key else b""

    def request_head(self, path: str, request_id: str, body_bytes: int) -> bytes:
        """Clients' own headers stop at the gateway: their keys are for us, not for engines."""
        return (
            b"POST %b HTTP/1.1\r\nhost: %b\r\ncontent-type: application/json\r\n%bx-request-id: %b\r\n"
            b"content-length: %d\r\n\r\n"
            % (path.encode(), self._host_line, self._key_line, request_id.encode(), body_bytes)
        )


class FleetView:
    """Read by every request, replaced whole by the control loop."""

    __slots__ = ("_dialects", "_wires", "snapshot")

    def __init__(self, dialects: dict[str, EngineDialect], snapshot: FleetSnapshot) -> None:
        self._dialects = dialects
        self.publish(snapshot)

    def publish(self, snapshot: FleetSnapshot) -> None:
        """Make a newer snapshot the one that requests see."""
        self.snapshot = snapshot
        self._wires = {
            replica.id: ReplicaWire(replica, self._dialects[replica.engine]) for replica in snapshot.replicas
        }

    def wire(self, replica: ReplicaId) -> ReplicaWire:
        return self._wires[replica]
