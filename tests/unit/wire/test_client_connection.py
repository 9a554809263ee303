"""A connection to a server is used again where its last request and its last answer were whole."""

import asyncio

import pytest

from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.pacing import SLICE_BYTES

HEAD = b"POST / HTTP/1.1\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
SIZES = (100, 20_000, SLICE_BYTES, SLICE_BYTES + 1)  # sent in one write, in one call, and in slices


class SlowTransport(MemoryTransport):
    """Says that the other side has not taken all of it yet."""

    def get_write_buffer_size(self) -> int:
        return 7


class Sender:
    """Owns a connection and listens to its answers."""

    def __init__(self, transport: type[MemoryTransport] = MemoryTransport) -> None:
        self.idle = self.answered = 0
        self.connection = ClientConnection(self)
        self.transport = transport(self.connection)

    def is_idle(self, _: ClientConnection) -> None:
        self.idle += 1

    def is_closed(self, _: ClientConnection) -> None: ...
    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None: ...
    def on_framed(self, data: bytes, chunks: int) -> None: ...
    def on_payload(self, data: bytes) -> None: ...

    def on_end(self) -> None:
        self.answered += 1

    def on_failure(self, error: Exception) -> None:
        raise error


@pytest.mark.parametrize("size", SIZES)
async def test_an_answer_in_the_turn_of_the_last_byte_gives_the_connection_back(size: int) -> None:
    sender = Sender()
    sender.connection.send(sender, HEAD, b"x" * size)
    while len(sender.transport.written) < len(HEAD) + size:
        await asyncio.sleep(0)
    sender.transport.feed(ANSWER)
    assert (sender.answered, sender.idle, sender.transport.is_closing()) == (1, 1, False)


@pytest.mark.parametrize("size", SIZES)
async def test_an_answer_to_a_request_that_has_not_left_ends_the_connection(size: int) -> None:
    sender = Sender(SlowTransport)
    sender.connection.send(sender, HEAD, b"x" * size)
    sender.transport.feed(ANSWER)
    assert (sender.answered, sender.idle, sender.transport.is_closing()) == (1, 0, True)


async def test_an_answer_between_two_slices_ends_the_connection() -> None:
    sender = Sender()
    sender.connection.send(sender, HEAD, b"x" * (2 * SLICE_BYTES))
    assert len(sender.transport.written) < SLICE_BYTES
    sender.transport.feed(ANSWER)
    assert (sender.answered, sender.idle, sender.transport.is_closing()) == (1, 0, True)
