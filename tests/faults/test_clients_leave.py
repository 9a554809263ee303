"""Clients that go away, and clients that do not read: an ordinary day."""

import asyncio
import random
import resource
from pathlib import Path

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall
from tests.support.gateways import gateway_over
from tests.support.raw_client import RawClient, connected
from tests.support.requests import chat, get

EVENTS = 500
PAYLOAD_BYTES = 100_000  # of each of them: 50 MB together


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("manner", ["cut", "close"])
async def test_a_client_that_leaves_before_the_first_byte_stops_the_engine(
    manner: str, stream: bool, tmp_path: Path
) -> None:
    async with gateway_over(behaviours.answer(delay_s=60), records=tmp_path / "records") as rig:
        async with connected(rig.port) as client:
            await client.send(chat(stream=stream))
            async with asyncio.timeout(30):
                while not rig.engine.calls:
                    await asyncio.sleep(0.005)
            await leave(client, manner)
            await rig.wait_cancelled()
        await rig.wait_empty()
        [record] = await rig.wait_records(1)
        assert (record.status, record.reason) == (499, "client_gone")


@pytest.mark.parametrize("manner", ["cut", "close"])
async def test_a_client_that_leaves_within_a_stream_stops_the_engine(manner: str, tmp_path: Path) -> None:
    async with gateway_over(behaviours.stream(10_000, delay_s=0.005), records=tmp_path / "records") as rig:
        async with connected(rig.port) as client:
            await client.send(chat(stream=True))
            await client.head()
            await client.reader.read(100)
            await leave(client, manner)
            await rig.wait_cancelled()
        await rig.wait_empty()
        [record] = await rig.wait_records(1)
        assert (record.status, record.reason, record.is_estimated) == (499, "client_gone", True)


async def test_a_client_that_leaves_while_the_gateway_still_connects_leaves_nothing_behind() -> None:
    async with gateway_over(behaviours.stream(2)) as rig:
        async with connected(rig.port) as client:
            await client.send(chat(stream=True))
            client.leave()
        await rig.wait_empty()
        async with connected(rig.port) as client:
            assert (await client.ask(chat(stream=True))).status == 200


async def test_requests_that_wait_behind_the_one_a_client_left_are_forgotten() -> None:
    async with gateway_over(behaviours.answer(delay_s=60)) as rig:
        async with connected(rig.port) as client:
            await client.send(chat() + chat() + get("/health/live"))
            async with asyncio.timeout(30):
                while not rig.engine.calls:
                    await asyncio.sleep(0.005)
            client.leave()
        await rig.wait_empty()
        assert len(rig.engine.calls) == 1


async def test_a_slow_client_holds_the_engine_back_and_gets_everything() -> None:
    """The test's process has all three parts in it; 50 MB held anywhere would show in its memory."""
    unsent_bytes = []
    event = b'{"choices":[{"index":0,"delta":{"content":"%b"}}]}' % (b"z" * PAYLOAD_BYTES)

    async def behave(call: EngineCall) -> None:
        call.head(200, *behaviours.EVENT_STREAM)
        for _ in range(EVENTS):
            call.event(event)
            await call.drain()
            unsent_bytes.append(call.unsent_bytes)
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    async with gateway_over(behave) as rig, connected(rig.port) as client:
        client.stop_reading()
        memory_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        await client.send(chat(stream=True))
        sent = -1
        while len(unsent_bytes) > sent:
            sent = len(unsent_bytes)
            await asyncio.sleep(0.6)
        assert sent < EVENTS / 2, "the engine waits"
        client.go_on_reading()
        received = events = 0
        _, headers = await client.head()
        assert headers["transfer-encoding"] == "chunked"
        async for piece in client.chunks():
            received += piece.count(b"z")
            events += piece.count(b"data: ")
        assert (received, events) == (EVENTS * PAYLOAD_BYTES, EVENTS + 1)
        grown_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory_before) / 1024
        assert grown_mib < 16
        await rig.wait_empty()
        assert (await client.ask(get("/health/live"))).status == 200


async def test_a_client_that_leaves_without_having_read_frees_the_engine_it_held_back() -> None:
    async with gateway_over(behaviours.stream(200, word="x" * 100_000)) as rig:
        async with connected(rig.port) as client:
            client.stop_reading()
            await client.send(chat(stream=True))
            await asyncio.sleep(0.3)
            assert rig.holds().in_flight == 1
            client.leave()
        await rig.wait_empty()


async def test_every_request_ends_exactly_once_whatever_clients_and_engines_do(tmp_path: Path) -> None:
    moods = random.Random(7)
    faults = [
        behaviours.stream(3),
        behaviours.stream(3, delay_s=0.01),
        behaviours.answer(delay_s=0.02),
        behaviours.raw(b""),
        behaviours.raw(b"", then="reset"),
        behaviours.raw(b"nonsense\r\n\r\n"),
        behaviours.stream_then(then="reset"),
        behaviours.refuse(500),
    ]

    async def behave(call: EngineCall) -> None:
        await moods.choice(faults)(call)

    async def client(number: int) -> None:
        async with connected(rig.port) as one:
            await one.send(chat(stream=moods.random() < 0.5))
            if number % 3 == 0:
                await asyncio.sleep(moods.random() * 0.03)
                one.leave()
            else:
                await one.answer()

    async with gateway_over(behave, records=tmp_path / "records") as rig:
        for start in range(0, 150, 25):
            await asyncio.gather(*(client(number) for number in range(start, start + 25)))
        await rig.wait_empty()
        records = await rig.wait_records(140)
        rig.engine.behaviour = behaviours.stream(2)
        async with connected(rig.port) as one:
            assert (await one.ask(chat())).status == 200
    records = rig.records()
    assert len({record.id for record in records}) == len(records)
    # A client may have left before its request had arrived whole; every other one was written down.
    assert 101 <= len(records) <= 151


async def leave(client: RawClient, manner: str) -> None:
    """With a reset, or with a FIN as most programs end."""
    if manner == "cut":
        client.leave()
    else:
        await client.close()


async def test_a_client_that_leaves_at_done_has_had_everything(tmp_path: Path) -> None:
    """Some engines send the end of the chunks a moment after [DONE], and some clients do not wait for it."""

    async def behave(call: EngineCall) -> None:
        call.head(200, *behaviours.EVENT_STREAM)
        call.event(behaviours.chat_event(" hello"))
        call.event(b"[DONE]")
        await asyncio.sleep(3600)

    async with gateway_over(behave, records=tmp_path / "records") as rig:
        async with connected(rig.port) as client:
            await client.send(chat(stream=True))
            _, headers = await client.head()
            assert "transfer-encoding" in headers
            async for piece in client.chunks():
                if b"[DONE]" in piece:
                    break
            client.leave()
            await rig.wait_empty()
        (record,) = await rig.wait_records(1)
        assert (record.status, record.reason) == (200, "")
