"""HTTP exchanges of the control loops with engines and exporters: a failure is an `EngineError`."""

from heterodyne.engines.wire_errors import engine_error
from heterodyne.wire import fetch
from heterodyne.wire.address import Address
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import WireError
from heterodyne.wire.fetch import Fetched


async def get(
    pool: ConnectionPool,
    address: Address,
    path: str,
    *,
    timeout_s: float,
    headers: bytes = b"",
    keeps_alive: bool = False,
) -> Fetched:
    """GET a path, as `fetch.get` does."""
    try:
        return await fetch.get(pool, address, path, timeout_s=timeout_s, headers=headers, keeps_alive=keeps_alive)
    except WireError as error:
        raise engine_error(error) from error


async def post(
    pool: ConnectionPool, address: Address, path: str, body: bytes, *, timeout_s: float, headers: bytes = b""
) -> Fetched:
    """POST JSON, as `fetch.post` does."""
    try:
        return await fetch.post(pool, address, path, body, timeout_s=timeout_s, headers=headers)
    except WireError as error:
        raise engine_error(error) from error
