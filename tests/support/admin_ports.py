"""An admin port in the test's own loop, over a scripted fleet."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import cast

from msgspec import structs

from heterodyne.console.app import admin_app
from heterodyne.console.fleet.service import FleetService
from heterodyne.console.guard import Guard
from heterodyne.console.server import LIMITS, AdminServer
from heterodyne.console.settings import ConsoleSettings
from heterodyne.wire.server_connection import ServerLedger
from tests.support.admin_fleets import ScriptedFleet
from tests.support.consoles import instruments

KEY = "operator"
AUTHORIZED = f"authorization: Bearer {KEY}"


class AdminPort:
    """Where it listens, and what it holds."""

    def __init__(self, port: int, ledger: ServerLedger) -> None:
        self.port = port
        self.ledger = ledger

    async def wait_empty(self, timeout_s: float = 30.0) -> None:
        """Wait until nothing is held for anybody."""
        async with asyncio.timeout(timeout_s):
            while self.ledger.body_bytes or any(one.is_busy for one in self.ledger.connections):
                await asyncio.sleep(0.005)


@asynccontextmanager
async def admin_port(*, guard: type[Guard] = Guard, **limits: float) -> AsyncIterator[AdminPort]:
    """With the operator's key, and with these limits in the place of its own."""
    settings = ConsoleSettings(operator_keys_sha256=(sha256(KEY.encode()).hexdigest(),))
    tools = instruments(settings)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    app = admin_app(settings, cast(FleetService, ScriptedFleet()), instruments=tools)
    server = AdminServer(app, listener, guard.of(settings), structs.replace(LIMITS, **limits))
    async with asyncio.TaskGroup() as group:
        group.create_task(server.run())
        await asyncio.sleep(0)
        try:
            yield AdminPort(port, server.ledger)
        finally:
            tools.feed.close()
            server.leave()
