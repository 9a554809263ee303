"""Asks replicas for what an exchange of KV takes, over connections of its own. A failure is an `EngineError`."""

from heterodyne.engines.header_lines import header_lines
from heterodyne.engines.wire_errors import engine_error
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.ports.engine_control import ControlCall
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.wire import fetch
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import WireError
from heterodyne.wire.fetch import Fetched


class EngineAsker:
    """Whoever stops waiting closes the connection, which is how the engine learns that nobody wants it any more."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    async def ask(self, wire: ReplicaWire, call: EngineRequest, request_id: str, *, timeout_s: float) -> Fetched:
        """A call in the words of the replica's engine."""
        headers = header_lines(wire.replica, wire.dialect) + f"x-request-id: {request_id}\r\n".encode()
        try:
            return await fetch.post(
                self._pool, wire.address, call.path, call.body, timeout_s=timeout_s, headers=headers
            )
        except WireError as error:
            raise engine_error(error) from error

    async def order(self, wire: ReplicaWire, order: ControlCall, *, timeout_s: float) -> Fetched:
        """A call of the control plane."""
        path = wire.replica.base_path + order.path
        headers = header_lines(wire.replica, wire.dialect)
        try:
            if order.method == "GET":
                return await fetch.get(self._pool, wire.address, path, timeout_s=timeout_s, headers=headers)
            return await fetch.post(self._pool, wire.address, path, order.body, timeout_s=timeout_s, headers=headers)
        except WireError as error:
            raise engine_error(error) from error

    async def close(self) -> None:
        await self._pool.close()
