"""Pieces of answers are dated when they are read, and parsed afterwards a slice at a time."""

import asyncio
from collections.abc import Iterator

import pytest

from heterodyne.bench.connection import Connection
from heterodyne.bench.failure import ExchangeFailed
from heterodyne.bench.response_reader import StreamResponseReader, WholeResponseReader
from heterodyne.bench.unparsed import SLICE_S, UnparsedPieces

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


class Ticking:
    """A clock that moves on by as much with every look at it."""

    def __init__(self, tick_s: float) -> None:
        self.now_s, self.tick_s, self.looks = 0.0, tick_s, 0

    def __call__(self) -> float:
        self.now_s += self.tick_s
        self.looks += 1
        return self.now_s


class Silent(asyncio.Transport):
    """Takes what is written and sends nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.is_aborted = False

    def write(self, data: bytes | bytearray | memoryview) -> None: ...

    def abort(self) -> None:
        self.is_aborted = True


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def token(text: str) -> bytes:
    return chunk(f'data: {{"choices": [{{"text": "{text}"}}]}}\n\n'.encode())


def pieces() -> Iterator[bytes]:
    yield HEAD + token(" a")
    yield token(" b")
    yield chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"


async def test_pieces_of_many_streams_are_dated_before_any_of_them_is_parsed() -> None:
    clock = Ticking(SLICE_S / 10)
    unparsed = UnparsedPieces(clock)
    asked = []
    for _ in range(40):
        connection, answer = Connection(unparsed), StreamResponseReader()
        connection.connection_made(Silent())
        asked.append((connection, answer, asyncio.create_task(connection.exchange(b"", answer))))
    await asyncio.sleep(0)
    for piece in pieces():
        for connection, _, _ in asked:
            connection.data_received(piece)
    async with asyncio.timeout(5):
        await asyncio.gather(*(task for _, _, task in asked))
    for number, (_, answer, _) in enumerate(asked, start=1):
        assert answer.content_at_s == pytest.approx([clock.tick_s * number, clock.tick_s * (40 + number)])


async def test_others_have_their_turn_between_slices_of_parsing() -> None:
    unparsed = UnparsedPieces(Ticking(SLICE_S))
    parsed: list[int] = []

    class Counting:
        def parse_next(self) -> None:
            parsed.append(len(parsed))

    for _ in range(6):
        unparsed.add(Counting())
    seen = []
    while len(parsed) < 6:
        await asyncio.sleep(0)
        seen.append(len(parsed))
    assert len(set(seen)) > 1


async def test_what_was_read_before_a_connection_was_lost_still_counts() -> None:
    connection, answer = Connection(UnparsedPieces(Ticking(0.001))), StreamResponseReader()
    connection.connection_made(Silent())
    exchange = asyncio.create_task(connection.exchange(b"", answer))
    await asyncio.sleep(0)
    for piece in pieces():
        connection.data_received(piece)
    connection.connection_lost(None)
    async with asyncio.timeout(5):
        await exchange
    assert len(answer.content_at_s) == 2


async def test_bytes_without_a_request_end_the_connection() -> None:
    connection, transport = Connection(UnparsedPieces(Ticking(0.001))), Silent()
    connection.connection_made(transport)
    connection.data_received(b"HTTP/1.1 200 OK\r\n\r\n")
    await asyncio.sleep(0)
    assert transport.is_aborted
    with pytest.raises((ExchangeFailed, TimeoutError)):
        async with asyncio.timeout(0.05):
            await connection.exchange(b"", WholeResponseReader())
