"""Waits until the gateway itself says that the models started here can be asked, then tells the person who waits."""

import asyncio
import ssl
import sys

import msgspec

from heterodyne.config.settings import Settings
from heterodyne.domain.errors import Unauthenticated
from heterodyne.fleet.supervised_process import SupervisedProcess
from heterodyne.supervisor.banner import banner
from heterodyne.wire.connection_pool import Address, ConnectionPool
from heterodyne.wire.errors import WireError
from heterodyne.wire.fetch import Fetched, get

POLL_INTERVAL_S = 0.05
TIMEOUT_S = 2.0


class _Ready(msgspec.Struct):
    models: dict[str, str] = {}


async def announce(
    settings: Settings, processes: list[SupervisedProcess], models: set[str], console_url: str | None
) -> None:
    """Print the banner once; models that run elsewhere come and go as they please."""
    for process in processes:
        await process.started.wait()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname = False  # it is our own process; the name is for clients
    tls.verify_mode = ssl.CERT_NONE
    pool = ConnectionPool(asyncio.get_running_loop(), connect_timeout_s=TIMEOUT_S, tls=tls)
    try:
        while not models <= await _ready_models(settings, pool):
            await asyncio.sleep(POLL_INTERVAL_S)
        needs_key = await _needs_key(settings, pool)
    finally:
        await pool.close()
    sys.stdout.write(banner(settings, settings.gateway.port, console_url, needs_key=needs_key) + "\n")
    sys.stdout.flush()


async def _ready_models(settings: Settings, pool: ConnectionPool) -> set[str]:
    answer = await _try_page(settings, pool, "/health/ready")
    if answer is None:
        return set()
    states = msgspec.json.decode(answer.body, type=_Ready).models
    return {name for name, state in states.items() if state == "ready"}


async def _needs_key(settings: Settings, pool: ConnectionPool) -> bool:
    """Asked of the gateway, as a client without a key would: keys in the database count as those in the settings do."""
    answer = await _try_page(settings, pool, "/v1/models")
    return answer is not None and answer.status == Unauthenticated.status


async def _try_page(settings: Settings, pool: ConnectionPool, path: str) -> Fetched | None:
    gateway = settings.gateway
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(gateway.host, gateway.host)  # noqa: S104  # where it answers us
    try:
        address = Address(host, gateway.port, gateway.tls_certificate is not None)
        return await get(pool, address, path, timeout_s=TIMEOUT_S)
    except WireError:
        return None
