"""Open connections to servers, kept per address, lent to one request at a time."""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable

from heterodyne.concurrency.deadline import deadline
from heterodyne.wire.address import Address
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.errors import ConnectFailed, WireError
from heterodyne.wire.tls.failures import failure_text
from heterodyne.wire.tls.outward import OutwardContexts


class AddressPool:
    """The connections to one address."""

    __slots__ = ("_idle", "_idle_max", "open")

    def __init__(self, idle_max: int) -> None:
        self._idle: deque[ClientConnection] = deque()
        self._idle_max = idle_max
        self.open: set[ClientConnection] = set()

    def try_take(self) -> ClientConnection | None:
        """The connection used last, as it is the least likely to have been closed by the server meanwhile."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                return connection
        return None

    def is_idle(self, connection: ClientConnection) -> None:
        if len(self._idle) < self._idle_max:
            self._idle.append(connection)
        else:
            connection.cancel()

    def is_closed(self, connection: ClientConnection) -> None:
        self.open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    def retire(self) -> None:
        """Keep none: those that are idle end now, the others with their answers."""
        self._idle_max = 0
        while (connection := self.try_take()) is not None:
            connection.cancel()

    @property
    def idle_count(self) -> int:
        return len(self._idle)


Connected = Callable[[ClientConnection], None]
Failed = Callable[[WireError], None]


class ConnectionPool:
    """Lends connections by callback: most requests get one without a task or a turn of the event loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        idle_max: int = 256,
        connect_timeout_s: float = 5.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`tls` is for all addresses, whatever files they name."""
        self._loop = loop
        self._idle_max = idle_max
        self._connect_timeout_s = connect_timeout_s
        self._tls = tls
        self._contexts = OutwardContexts(loop.time)
        self._address_pools: dict[Address, AddressPool] = {}
        self._retired: list[AddressPool] = []  # whose last answers are under way
        self._connecting: set[asyncio.Task[None]] = set()

    def lend(self, address: Address, connected: Connected, failed: Failed, *, fresh: bool = False) -> None:
        """Call `connected` with an open connection, perhaps at once, or `failed`.

        `fresh` insists on a new one, for a request whose reused connection turned out to be dead.
        """
        address_pool = self._address_pools.get(address)
        if address_pool is None:
            address_pool = self._address_pools[address] = AddressPool(self._idle_max)
        connection = None if fresh else address_pool.try_take()
        if connection is not None:
            connected(connection)
            return
        task = self._loop.create_task(self._connect(address, address_pool, connected, failed))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    def forget(self, keep: set[Address]) -> None:
        """Let go of all other addresses; answers that are under way come to their end."""
        for address in [address for address in self._address_pools if address not in keep]:
            address_pool = self._address_pools.pop(address)
            address_pool.retire()
            self._retired.append(address_pool)
        self._retired = [address_pool for address_pool in self._retired if address_pool.open]

    async def close(self) -> None:
        """End every connection and every attempt at one."""
        for task in tuple(self._connecting):
            task.cancel()
        await asyncio.gather(*self._connecting, return_exceptions=True)
        for address_pool in (*self._address_pools.values(), *self._retired):
            for connection in tuple(address_pool.open):
                connection.cancel()
        self._retired += self._address_pools.values()
        self._address_pools.clear()

    @property
    def busy(self) -> int:
        """Connections with an answer under way, to addresses that were let go included."""
        return sum(
            len(address_pool.open) - address_pool.idle_count
            for address_pool in (*self._address_pools.values(), *self._retired)
        )

    def snapshot(self) -> dict[Address, tuple[int, int]]:
        """Open and idle connections per address."""
        return {
            address: (len(address_pool.open), address_pool.idle_count)
            for address, address_pool in self._address_pools.items()
        }

    async def _connect(self, address: Address, address_pool: AddressPool, connected: Connected, failed: Failed) -> None:
        try:
            async with deadline(self._connect_timeout_s):
                context = await self._context(address)
                _, connection = await self._loop.create_connection(
                    lambda: ClientConnection(address_pool), address.host, address.port, ssl=context
                )
        except TimeoutError:
            failed(ConnectFailed(f"No connection to the {{server}} within {self._connect_timeout_s:g} s."))
        except ssl.SSLCertVerificationError as error:
            failed(ConnectFailed("The certificate of the {server} is not accepted: ", failure_text(error)))
        except ssl.SSLError as error:
            failed(ConnectFailed("There is no TLS connection to the {server}: ", failure_text(error)))
        except OSError as error:
            failed(ConnectFailed("The {server} does not accept connections: ", error.strerror or str(error)))
        else:
            if not connection.is_open:
                failed(ConnectFailed("The {server} closed a new connection at once."))
                return
            address_pool.open.add(connection)
            connected(connection)

    async def _context(self, address: Address) -> ssl.SSLContext | None:
        if not address.tls or self._tls is not None:
            return self._tls if address.tls else None
        return await self._contexts.of(address.tls_files)
