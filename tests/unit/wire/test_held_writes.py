"""Pieces of an answer that wait for each other a moment."""

import asyncio

from heterodyne.domain.errors import HeterodyneError
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest
from heterodyne.wire.server_connection import ServerConnection, ServerLedger
from heterodyne.wire.server_socket import HELD_BYTES_MAX, HOLD_S


class Client:
    """A connection with one request under way; remembers every write."""

    def __init__(self, ledger: ServerLedger | None = None) -> None:
        self.connection = ServerConnection(self, WireLimits(), ledger or ServerLedger(), clock=lambda: 0.0)
        self.transport = MemoryTransport(self.connection)
        self.transport.feed(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        self.writes: list[bytes] = []
        self.transport.write = self.writes.append  # type: ignore[method-assign,assignment]  # a stream writes bytes

    def check_head(self, _: HttpRequest, __: object) -> HeadCheck:
        return ANY_BODY

    def handle(self, request: HttpRequest, connection: ServerConnection) -> "Client":
        return self

    def refuse(self, error: HeterodyneError, connection: ServerConnection) -> None:
        raise error

    def client_gone(self) -> None: ...
    def client_slow(self) -> None: ...
    def client_ready(self) -> None: ...


async def until(writes: list[bytes], count: int) -> None:
    """So many writes were made; the test's own time-out is the end of it."""
    while len(writes) < count:
        await asyncio.sleep(HOLD_S)


async def held_by(*clients: Client) -> None:
    for client in clients:
        client.connection.write_soon(b"a")
        client.connection.write_soon(b"b")
        assert client.writes == []


def test_what_waits_leaves_together_in_a_moment() -> None:
    async def run() -> None:
        ledger = ServerLedger()
        one, other = Client(ledger), Client(ledger)
        await held_by(one, other)
        await until(other.writes, 1)
        assert one.writes == other.writes == [b"ab"]
        one.connection.write_soon(b"c")
        await until(one.writes, 2)
        assert one.writes == [b"ab", b"c"]

    asyncio.run(run())


def test_a_write_takes_what_waits_with_it_in_its_order() -> None:
    async def run() -> None:
        client = Client()
        await held_by(client)
        client.connection.write(b"c")
        assert client.writes == [b"abc"]
        await asyncio.sleep(3 * HOLD_S)
        assert client.writes == [b"abc"]

    asyncio.run(run())


def test_an_end_sends_what_waits_first() -> None:
    async def run() -> None:
        last, nothing, gone = Client(), Client(), Client()
        await held_by(last, nothing, gone)
        last.connection.finish(b"end")
        nothing.connection.finish()
        gone.connection.hang_up()
        assert last.writes == [b"abend"]
        assert nothing.writes == gone.writes == [b"ab"]

    asyncio.run(run())


def test_more_than_a_client_should_wait_for_does_not_wait() -> None:
    async def run() -> None:
        client = Client()
        client.connection.write_soon(b"x" * HELD_BYTES_MAX)
        client.connection.write_soon(b"y")
        assert client.writes == [b"x" * HELD_BYTES_MAX + b"y"]

    asyncio.run(run())


def test_nothing_is_sent_to_a_client_that_has_gone() -> None:
    async def run() -> None:
        client = Client()
        await held_by(client)
        client.connection.connection_lost(None)
        client.connection.write_soon(b"c")
        await asyncio.sleep(3 * HOLD_S)
        assert client.writes == []

    asyncio.run(run())
