"""An emulated engine on a port."""

import asyncio
import time
from collections.abc import Callable
from typing import Self

from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.faults import Faults
from heterodyne.emulator.kv.events import KvEvents
from heterodyne.emulator.order import EmulatorOrder
from heterodyne.emulator.request_handler import EmulatorRequestHandler
from heterodyne.emulator.surfaces.catalogue import surface_of
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.server_connection import ServerConnection, ServerLedger

TICK_S = 0.1


class EmulatorServer:
    """Opens, answers, crashes on demand, closes.

    async with EmulatorServer(order) as server:
        ...  # server.url answers as the engine would
    """

    def __init__(
        self,
        order: EmulatorOrder,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        faults: Faults | None = None,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.order = order
        self.host = host
        self.port = port
        self.has_crashed = asyncio.Event()
        self._faults = faults or Faults()
        self._wall_clock = wall_clock
        self._ledger = ServerLedger()
        self._server: asyncio.Server | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._engine: EmulatedEngine | None = None
        self._kv_events: KvEvents | None = None

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://{self.host}:{self.port}"

    @property
    def engine(self) -> EmulatedEngine:
        """What runs; only while open."""
        assert self._engine is not None, "the emulator is not open"
        return self._engine

    @property
    def kv_events(self) -> KvEvents:
        """The publisher of KV events; only while open, and where the order wants them."""
        assert self._kv_events is not None, "the emulator publishes no KV events"
        return self._kv_events

    async def open(self) -> None:
        """Listen; afterwards `port` is the real one, and stays the same when opened again."""
        loop = asyncio.get_running_loop()
        self.has_crashed.clear()
        self._engine = EmulatedEngine(self.order, loop=loop, wall_clock=self._wall_clock, on_crash=self._crash)
        self._engine.set_faults(self._faults)
        handler = EmulatorRequestHandler(self._engine, surface_of(self._engine))
        if self.order.kv_events is not None:
            self._kv_events = KvEvents(self._engine, loop=loop)
        limits = WireLimits()
        try:
            self._server = await loop.create_server(
                lambda: ServerConnection(handler, limits, self._ledger, loop.time), self.host, self.port, backlog=4096
            )
        except OSError:
            self._stop()
            raise
        self.port = self._server.sockets[0].getsockname()[1]
        self._engine.kv.address = (self.host, self.port)
        self._ticking = loop.create_task(self._tick())

    async def close(self) -> None:
        """Cut every connection and stop listening."""
        self._stop()
        if self._ticking is not None:
            self._ticking.cancel()
            await asyncio.gather(self._ticking, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _crash(self) -> None:
        self._stop()
        self.has_crashed.set()

    def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
        if self._engine is not None:
            self._engine.close()
        if self._kv_events is not None:
            self._kv_events.close()
        for connection in tuple(self._ledger.connections):
            connection.abort()

    async def _tick(self) -> None:
        """The time limits of every connection."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(TICK_S)
            for connection in tuple(self._ledger.connections):
                connection.check(loop.time())
