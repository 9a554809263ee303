"""A JAX engine on a port."""

import asyncio
import time
from collections.abc import Callable
from typing import Self

from msgspec import Struct

from heterodyne.jax_engine.engine import JaxEngine
from heterodyne.jax_engine.observations import JaxObservations
from heterodyne.jax_engine.request_handler import JaxRequestHandler
from heterodyne.jax_engine.scheduler import SlotScheduler
from heterodyne.jax_engine.served_model import JaxModel
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.server_connection import ServerConnection, ServerLedger

TICK_S = 0.1


class JaxOrder(Struct, frozen=True, kw_only=True):
    """How a model is served."""

    name: str  # that clients ask for
    slots: int = 64
    context_tokens: int = 4096
    chunk_tokens: int = 512
    steps: int = 1


class JaxServer:
    """Opens, answers, closes.

    async with JaxServer(model, order) as server:
        ...  # server.url answers as vLLM would
    """

    def __init__(self, model: JaxModel, order: JaxOrder, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host = host
        self.port = port
        self._ledger = ServerLedger()
        self._server: asyncio.Server | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        scheduler = SlotScheduler(
            slots=order.slots,
            context_tokens=min(order.context_tokens, model.programs.shape.context_tokens),
            chunk_tokens=order.chunk_tokens,
            steps=order.steps,
        )
        self.engine = JaxEngine(
            model.programs,
            scheduler,
            chunk_tokens=order.chunk_tokens,
            tell=lambda sayings: self._pass_on(lambda: self._handler.hear(sayings)),
            fail=lambda error: self._pass_on(lambda: self._handler.fail(f"The engine failed: {error}")),
        )
        self._handler = JaxRequestHandler(model, order.name, self.engine, JaxObservations(order.name, time.time()))

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://{self.host}:{self.port}"

    @property
    def context_tokens(self) -> int:
        """Of the longest sequence."""
        return self.engine.scheduler.context_tokens

    async def open(self) -> None:
        """Listen; afterwards `port` is the real one."""
        self._loop = loop = asyncio.get_running_loop()
        limits = WireLimits()
        self._server = await loop.create_server(
            lambda: ServerConnection(self._handler, limits, self._ledger, loop.time), self.host, self.port, backlog=4096
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self.engine.start()
        self._ticking = loop.create_task(self._tick())

    async def close(self) -> None:
        """Cut every connection, stop listening and let the device end what it does."""
        if self._server is not None:
            self._server.close()
        for connection in tuple(self._ledger.connections):
            connection.abort()
        if self._ticking is not None:
            self._ticking.cancel()
            await asyncio.gather(self._ticking, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()
        await asyncio.get_running_loop().run_in_executor(None, self.engine.close)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _pass_on(self, call: Callable[[], None]) -> None:
        """From the engine's thread into the loop."""
        assert self._loop is not None
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)

    async def _tick(self) -> None:
        """The time limits of every connection."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(TICK_S)
            for connection in tuple(self._ledger.connections):
                connection.check(loop.time())
