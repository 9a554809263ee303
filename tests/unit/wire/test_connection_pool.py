"""Lending and taking back connections to an engine."""

import asyncio

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.dropping_server import DroppingServer
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.wire.address import Address
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import ConnectFailed, WireError
from heterodyne.wire.fetch import get


async def borrow(pool: ConnectionPool, address: Address, *, fresh: bool = False) -> ClientConnection:
    future: asyncio.Future[ClientConnection] = asyncio.get_running_loop().create_future()
    pool.lend(address, future.set_result, future.set_exception, fresh=fresh)
    return await asyncio.wait_for(future, 30)


async def test_a_connection_that_came_back_is_lent_again() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine:
        pool, address = ConnectionPool(asyncio.get_running_loop()), Address("127.0.0.1", engine.port)
        first = await borrow(pool, address)
        assert pool.snapshot() == {address: (1, 0)}
        first.release()
        assert pool.snapshot() == {address: (1, 1)}
        assert await borrow(pool, address) is first
        assert await borrow(pool, address, fresh=True) is not first
        await pool.close()


async def test_no_more_than_a_few_idle_connections_are_kept() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine:
        pool = ConnectionPool(asyncio.get_running_loop(), idle_max=1)
        address = Address("127.0.0.1", engine.port)
        lent = [await borrow(pool, address) for _ in range(3)]
        for connection in lent:
            connection.release()
        await asyncio.sleep(0.02)
        assert pool.snapshot() == {address: (1, 1)}
        await pool.close()


async def test_an_idle_connection_that_the_engine_closed_is_not_lent() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine:
        pool, address = ConnectionPool(asyncio.get_running_loop()), Address("127.0.0.1", engine.port)
        first = await borrow(pool, address)
        first.release()
        for connection in tuple(engine.connections):
            connection.drop()
        await asyncio.sleep(0.02)
        assert pool.snapshot() == {address: (0, 0)}
        assert await borrow(pool, address) is not first
        await pool.close()


async def test_nobody_listening_is_an_error_and_not_a_wait() -> None:
    pool = ConnectionPool(asyncio.get_running_loop())
    with pytest.raises(ConnectFailed, match="does not accept connections"):
        await borrow(pool, Address("127.0.0.1", 1))
    await pool.close()


async def test_a_connection_dropped_at_once_is_an_error_and_does_not_stay_behind() -> None:
    async with DroppingServer() as rude:
        pool, address = ConnectionPool(asyncio.get_running_loop()), Address("127.0.0.1", rude.port)
        for _ in range(5):
            try:
                connection = await borrow(pool, address)
            except ConnectFailed:
                continue
            connection.cancel()
        await asyncio.sleep(0.02)
        assert pool.snapshot() == {address: (0, 0)}
        await pool.close()


async def test_a_fetch_leaves_no_connection_behind() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine:
        pool, address = ConnectionPool(asyncio.get_running_loop()), Address("127.0.0.1", engine.port)
        for _ in range(3):
            assert (await get(pool, address, "/health", timeout_s=30)).status == 200
        engine.is_healthy = False
        assert (await get(pool, address, "/health", timeout_s=30)).status == 503
        await asyncio.sleep(0.02)
        assert pool.snapshot() == {address: (0, 0)}
        await engine.close()
        with pytest.raises(WireError):
            await get(pool, address, "/health", timeout_s=30)
        await pool.close()


async def test_addresses_that_left_the_fleet_are_forgotten() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine:
        pool, address = ConnectionPool(asyncio.get_running_loop()), Address("127.0.0.1", engine.port)
        (await borrow(pool, address)).release()
        pool.forget(keep={address})
        assert address in pool.snapshot()
        pool.forget(keep=set())
        assert pool.snapshot() == {}
        await asyncio.sleep(0.02)
        assert not engine.connections
        await pool.close()


async def test_a_connection_in_use_at_an_address_that_left_ends_with_its_answer() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine:
        pool, address = ConnectionPool(asyncio.get_running_loop()), Address("127.0.0.1", engine.port)
        asked = asyncio.create_task(get(pool, address, "/health", timeout_s=30, keeps_alive=True))
        while not engine.connections:
            await asyncio.sleep(0)
        pool.forget(keep=set())
        assert (await asked).status == 200
        await asyncio.sleep(0.02)
        assert not engine.connections
        await pool.close()
