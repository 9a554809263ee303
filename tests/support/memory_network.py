"""Both sides of a gateway without sockets: clients in memory, and a loop whose connections to engines end there too."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any

from heterodyne.domain.errors import HeterodyneError
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest
from heterodyne.wire.responder import Responder
from heterodyne.wire.server_connection import ServerConnection, ServerLedger


class MemoryNetwork(asyncio.AbstractEventLoop):
    """Runs what was scheduled in `turn`; no timer ever fires. `connections` has those to each port, in their order."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ready: deque[asyncio.Handle] = deque()
        self.refusing: set[int] = set()  # ports where nothing listens
        self.connections: defaultdict[int, list[MemoryTransport]] = defaultdict(list)

    def turn(self) -> None:
        """Everything that is ready, and what that makes ready."""
        with self.running():
            while self._ready:
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Inside the block this is the loop that code finds running."""
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(self)
        try:
            yield
        finally:
            asyncio._set_running_loop(before)

    # What asyncio, the pool and its deadlines call.

    async def create_connection(  # type: ignore[override]  # as far as the pool uses it
        self, factory: Callable[[], asyncio.Protocol], host: str, port: int, *, ssl: object = None
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        if port in self.refusing:
            raise ConnectionRefusedError(111, "Connection refused")
        protocol = factory()
        self.connections[port].append(MemoryTransport(protocol))
        return self.connections[port][-1], protocol

    def create_task(self, coro: Coroutine[Any, Any, Any], **_: Any) -> asyncio.Task[Any]:  # type: ignore[override]
        return asyncio.Task(coro, loop=self)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return asyncio.TimerHandle(when, callback, args, self, context)

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._clock() + delay, callback, *args, context=context)

    def time(self) -> float:
        return self._clock()

    def get_debug(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """A callback's mistake is the test's; a task that no test has waited for is none."""
        if "exception" in context:
            raise context["exception"]

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """None was kept."""


class MemoryClient:
    """A client with one request under way, which `handle` answers; it has got `written`."""

    def __init__(
        self,
        clock: Callable[[], float],
        handle: Callable[[ServerConnection], Responder | None] = lambda _: None,
        *,
        version: bytes = b"1.1",
    ) -> None:
        self.clock = clock
        self._handle = handle
        self.connection = ServerConnection(self, WireLimits(), ServerLedger(), clock)
        self.transport = MemoryTransport(self.connection)
        self.transport.feed(b"GET / HTTP/%b\r\nhost: x\r\n\r\n" % version)

    @property
    def written(self) -> bytes:
        return self.transport.written

    def check_head(self, request: HttpRequest, connection: ServerConnection) -> HeadCheck:
        return ANY_BODY

    def handle(self, request: HttpRequest, connection: ServerConnection) -> Responder | None:
        return self._handle(connection)

    def refuse(self, error: HeterodyneError, connection: ServerConnection) -> None:
        raise error
