"""Whatever is sent to either port, it answers safely or closes, holds nothing, and serves the next client."""

import asyncio
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.support.abuse_cases import CASES, CLOSED, SLOW_CASES, Case, Made
from tests.support.both_ports import BothPorts, Port, serving
from tests.support.raw_client import RawClient, ask, connected

ANSWER_TIMEOUT_S = 20.0
EMPTY_TIMEOUT_S = 20.0
ENDED = (400, 408, 413, 431)  # what is not one unambiguous request ends the connection
PORTS = ("data", "admin")


@pytest.fixture(scope="module")
def ports() -> Iterator[BothPorts]:
    with serving() as both:
        yield both


def test_there_are_enough_cases() -> None:
    names = [case.name for case in (*CASES, *SLOW_CASES)]
    assert len(set(names)) == len(names) >= 120


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize("name", PORTS)
async def test_whatever_is_sent_is_answered_safely(ports: BothPorts, name: str, case: Case) -> None:
    port: Port = getattr(ports, name)
    assert await _first_status(port, case.make(port)) in case.safe
    await _check_well(port)


@pytest.mark.parametrize("name", PORTS)
async def test_whoever_is_slow_is_given_up(ports: BothPorts, name: str) -> None:
    port: Port = getattr(ports, name)
    statuses = await asyncio.gather(*(_first_status(port, case.make(port), pause_s=0.1) for case in SLOW_CASES))
    unsafe = {case.name: status for case, status in zip(SLOW_CASES, statuses, strict=True) if status not in case.safe}
    assert not unsafe
    await _check_well(port)


@pytest.mark.parametrize("is_reset", [True, False])
@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("name", PORTS)
async def test_whoever_leaves_anywhere_leaves_nothing_behind(
    ports: BothPorts, name: str, part: float, is_reset: bool
) -> None:
    port: Port = getattr(ports, name)
    request = port.post()
    async with connected(port.port) as client:
        await client.send(request[: int(len(request) * part)])
        if is_reset:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.leave()
        else:
            client.stop_writing()
            assert await client.is_closed() or part == 1.0
    await _check_well(port)


@pytest.mark.parametrize("name", PORTS)
async def test_a_flood_of_requests_on_one_connection_is_answered_in_turn(ports: BothPorts, name: str) -> None:
    port: Port = getattr(ports, name)
    async with connected(port.port) as client:
        sending = asyncio.ensure_future(client.send(port.get() * 3000))
        assert {(await client.answer()).status for _ in range(3000)} == {200}
        await sending
    await _check_well(port)


@pytest.mark.parametrize("name", PORTS)
async def test_others_are_served_during_a_flood(ports: BothPorts, name: str) -> None:
    """Of requests, of tiny chunks, and of offers of another protocol, none of which is ever read to its end."""
    port: Port = getattr(ports, name)
    floods = (
        port.get() * 2000,
        port.chunked(b"1\r\n \r\n" * 40_000),
        port.get("connection: upgrade", "upgrade: h2c") * 1000,
    )
    for flood in floods:
        async with connected(port.port) as client:
            client.stop_reading()
            with suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(0.5):
                    await client.send(flood)
            for _ in range(5):
                assert (await ask(port.port, port.get())).status == 200
            client.leave()
    await _check_well(port)


async def _first_status(port: Port, made: Made, pause_s: float = 0.0) -> int:
    """Of the first answer; CLOSED where there is none."""
    async with connected(port.port) as client:
        sending = asyncio.create_task(_send(client, [made] if isinstance(made, bytes) else made, pause_s))
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                status, headers = await client.head()
                if status in ENDED and headers.get("connection") == "close":
                    await client.body(headers)
                    assert await client.is_closed(), "nothing after it is answered"
                return status
        except (asyncio.IncompleteReadError, ConnectionError):
            return CLOSED
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


async def _send(client: RawClient, pieces: list[bytes], pause_s: float) -> None:
    with suppress(ConnectionError):  # it may have been refused already
        await client.send(*pieces, pause_s=pause_s)


async def _check_well(port: Port) -> None:
    """The next client is served, and soon nothing is held."""
    assert (await ask(port.port, port.get())).status == 200
    async with asyncio.timeout(EMPTY_TIMEOUT_S):
        while port.held() != (0, 0):
            await asyncio.sleep(0.005)
