"""Whole answers over connections that are kept, dropped, late or too long."""

import asyncio

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.wire import fetch
from heterodyne.wire.address import Address
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import ConnectionBroken, ResponseInvalid, ResponseStalled
from heterodyne.wire.fetch import get


class Telling(ScriptedEngine):
    """Answers every GET with these raw bytes, then does nothing or hangs up."""

    def __init__(self, data: bytes, *, hangs_up: bool = False) -> None:
        super().__init__(behaviours.answer())
        self.data = data
        self.hangs_up = hangs_up
        self.asked = 0

    def answer_get(self, call: EngineCall) -> None:
        self.asked += 1
        call.write(self.data)
        if self.hangs_up:
            call.close()


def pool_of(engine: ScriptedEngine) -> tuple[ConnectionPool, Address]:
    return ConnectionPool(asyncio.get_running_loop(), idle_max=1), Address("127.0.0.1", engine.port)


@pytest.mark.parametrize("body", [b"", b"hello"])
async def test_a_kept_connection_serves_the_next_fetch_also_after_an_empty_answer(body: bytes) -> None:
    async with Telling(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)) as engine:
        pool, address = pool_of(engine)
        for _ in range(3):
            assert await get(pool, address, "/", timeout_s=30, keeps_alive=True) == (200, body)
        assert engine.connections_made == 1
        assert pool.snapshot() == {address: (1, 1)}
        await pool.close()


async def test_an_engine_that_wants_to_close_is_let_go() -> None:
    async with Telling(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: close\r\n\r\n") as engine:
        pool, address = pool_of(engine)
        for _ in range(2):
            assert (await get(pool, address, "/", timeout_s=30, keeps_alive=True)).status == 200
        assert engine.connections_made == 2
        await pool.close()


async def test_pieces_are_joined_chunked_or_not() -> None:
    page = b"x" * 300_000
    whole = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(page), page)
    chunks = (b"%x\r\n%b\r\n" % (1000, page[:1000])) * 300
    async with Telling(whole) as engine:
        pool, address = pool_of(engine)
        assert (await get(pool, address, "/", timeout_s=30, keeps_alive=True)).body == page
        engine.data = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
        assert (await get(pool, address, "/", timeout_s=30, keeps_alive=True)).body == page
        await pool.close()


async def test_a_request_that_met_a_closing_connection_is_sent_again() -> None:
    """An engine closes an idle connection just as the next request leaves."""
    async with Telling(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok") as engine:
        pool, address = pool_of(engine)
        await get(pool, address, "/", timeout_s=30, keeps_alive=True)
        good, engine.data, engine.hangs_up = engine.data, b"", True
        asked = asyncio.create_task(get(pool, address, "/", timeout_s=30, keeps_alive=True))
        while engine.asked < 2:
            await asyncio.sleep(0)
        engine.data, engine.hangs_up = good, False
        assert (await asked).body == b"ok"
        assert (engine.asked, engine.connections_made) == (3, 2)
        await pool.close()


async def test_a_new_connection_that_closes_without_an_answer_is_an_error_at_once() -> None:
    async with Telling(b"", hangs_up=True) as engine:
        pool, address = pool_of(engine)
        with pytest.raises(ConnectionBroken):
            await get(pool, address, "/", timeout_s=30, keeps_alive=True)
        assert engine.asked == 1
        await pool.close()


async def test_an_answer_that_does_not_come_ends_the_connection() -> None:
    async with Telling(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n") as engine:
        pool, address = pool_of(engine)
        with pytest.raises(ResponseStalled, match=r"No answer to /slow within 0\.05 s"):
            await get(pool, address, "/slow", timeout_s=0.05, keeps_alive=True)
        await asyncio.sleep(0.02)
        assert pool.snapshot() == {address: (0, 0)}
        await pool.close()


async def test_a_fetch_that_is_cancelled_leaves_no_connection() -> None:
    async with Telling(b"") as engine:
        pool, address = pool_of(engine)
        asked = asyncio.create_task(get(pool, address, "/", timeout_s=5, keeps_alive=True))
        while not engine.asked:
            await asyncio.sleep(0.001)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        await asyncio.sleep(0.02)
        assert pool.snapshot() == {address: (0, 0)}
        assert not engine.connections
        await pool.close()


async def test_an_endless_answer_is_cut() -> None:
    piece = b"x" * (1 << 20)
    size = fetch.ANSWER_BYTES_MAX + 2 * len(piece)
    async with Telling(
        b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size + piece * (size // len(piece))
    ) as engine:
        pool, address = pool_of(engine)
        with pytest.raises(ResponseInvalid, match="too large"):
            await get(pool, address, "/", timeout_s=5)
        await asyncio.sleep(0.02)
        assert pool.snapshot() == {address: (0, 0)}
        await pool.close()
