"""The admin API's listener, inside an event loop of its caller.

It stands on the connections of the data port, so that both have the same limits, and keeps the same rules of framing.
"""

import asyncio
import socket

from starlette.applications import Starlette

from heterodyne.console.admin_handler import AdminHandler
from heterodyne.console.guard import QUESTION_BYTES_MAX, Guard
from heterodyne.domain.tls_files import TlsFiles
from heterodyne.telemetry import log
from heterodyne.telemetry.certificate_news import ToldNews
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.listening_port import ListeningPort
from heterodyne.wire.server_connection import ServerConnection, ServerLedger

LIMITS = WireLimits(
    connections_max=512,  # a console that is open holds one or two for its live feed, all day
    body_bytes_max=QUESTION_BYTES_MAX,
    bodies_bytes_max=64 << 20,
    body_timeout_s=10.0,
    idle_timeout_s=30.0,
)
LEAVE_TIMEOUT_S = 1.0
TICK_S = 0.1

_log = log.get("console")


class AdminServer:
    """Serves on a bound socket until it is closed."""

    def __init__(
        self,
        app: Starlette,
        listener: socket.socket,
        guard: Guard,
        limits: WireLimits = LIMITS,
        tls_files: TlsFiles | None = None,
    ) -> None:
        self._app = app
        self._listener = listener
        self._guard = guard
        self._limits = limits
        self._tls_files = tls_files
        self._leaving = asyncio.Event()
        self.ledger = ServerLedger()

    async def run(self) -> None:
        """Serve until `leave`."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.TaskGroup() as requests:
                handler = AdminHandler(self._app, self._guard, requests)
                port = ListeningPort(
                    lambda: ServerConnection(handler, self._limits, self.ledger, loop.time),
                    self._tls_files,
                    ToldNews(_log, "console.tls_certificate"),
                )
                await port.open_on(self._listener)
                ticking = requests.create_task(self._tick(port), name="admin connections")
                try:
                    await self._leaving.wait()
                    port.close()
                    await self._drain()
                finally:
                    port.close()
                    ticking.cancel()
                    self._cut()
                    handler.close()
        finally:
            self._listener.close()

    def leave(self) -> None:
        """Take nothing new; `run` returns soon."""
        self.ledger.is_draining = True
        self._leaving.set()

    async def _tick(self, port: ListeningPort) -> None:
        """The time limits of every connection, and the certificate."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(TICK_S)
            for connection in tuple(self.ledger.connections):
                try:
                    connection.check(loop.time())
                except Exception as error:  # noqa: BLE001  # our mistake on one connection must not cost the others
                    _log.error("admin_connection_failed", exc_info=error)
                    connection.abort()
            try:
                await port.look(loop.time())
            except Exception as error:  # noqa: BLE001  # nor must a certificate
                _log.error("admin_certificate_failed", exc_info=error)

    async def _drain(self) -> None:
        """Answers that are under way have a moment."""
        loop = asyncio.get_running_loop()
        until_s = loop.time() + LEAVE_TIMEOUT_S
        while loop.time() < until_s and any(one.is_busy or one.is_flushing for one in self.ledger.connections):
            await asyncio.sleep(TICK_S / 4)

    def _cut(self) -> None:
        for connection in tuple(self.ledger.connections):
            connection.abort()
