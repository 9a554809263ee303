"""Connections to engines that are refused, dead, or dropped, and what the client notices of it."""

import asyncio

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.dropping_server import DroppingServer
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat

BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@BOTH
async def test_a_refused_connection_is_a_503(stream: bool) -> None:
    async with gateway_over(behaviours.stream(2)) as rig, connected(rig.port) as client:
        await rig.engine.close()
        answer = await client.ask(chat(stream=stream))
        assert (answer.status, answer.error["code"]) == (503, "engine_unavailable")
        assert int(answer.headers["retry-after"]) >= 1
        await rig.wait_empty()
        await rig.engine.open()
        assert (await client.ask(chat(stream=stream))).status == 200


@BOTH
async def test_a_connection_dropped_as_soon_as_it_is_made_is_a_503(stream: bool) -> None:
    async with gateway_over(behaviours.stream(2)) as rig, connected(rig.port) as client:
        await rig.engine.close()
        rude = DroppingServer()
        await rude.open(rig.engine.port)
        for _ in range(5):
            answer = await client.ask(chat(stream=stream))
            assert answer.error["code"] in ("engine_unavailable", "engine_broke")
        await rude.close()
        await rig.wait_empty()


@BOTH
async def test_a_kept_connection_that_died_is_replaced_and_nobody_notices(stream: bool) -> None:
    deaths = 0

    async def die_on_reuse(call: EngineCall) -> None:
        nonlocal deaths
        if len(rig.engine.calls) == 2:
            deaths += 1
            call.reset()
        else:
            await behaviours.stream(2)(call)

    async with gateway_over(die_on_reuse) as rig, connected(rig.port) as client:
        assert (await client.ask(chat(stream=stream))).status == 200
        made = await inference_connections(rig.engine)
        assert (await client.ask(chat(stream=stream))).status == 200
        assert deaths == 1
        assert len(rig.engine.calls) == 3, "asked once more, and not more often"
        assert await inference_connections(rig.engine) == made
        assert rig.engine.calls[1].body == rig.engine.calls[2].body
        await rig.wait_empty()


@BOTH
async def test_an_engine_that_dies_of_a_request_is_not_asked_for_ever(stream: bool) -> None:
    async with gateway_over(behaviours.stream(2)) as rig, connected(rig.port) as client:
        assert (await client.ask(chat(stream=stream))).status == 200
        rig.engine.behaviour = behaviours.raw(b"", then="reset")
        answer = await client.ask(chat(stream=stream))
        assert (answer.status, answer.error["code"]) == (502, "engine_broke")
        assert len(rig.engine.calls) == 3, "the kept connection, then a new one"
        await rig.wait_empty()


@BOTH
@pytest.mark.parametrize("fault", ["refuses", "closes", "talks garbage"])
async def test_another_replica_answers_in_the_place_of_one_that_fails(fault: str, stream: bool) -> None:
    async with gateway_over(behaviours.stream(2), behaviours.stream(2)) as rig, connected(rig.port) as client:
        await both_ready(rig.engines, client, rig.port)
        broken = rig.engines[0]
        if fault == "refuses":
            await broken.close()
        else:
            broken.behaviour = behaviours.raw(b"" if fault == "closes" else b"garbage\r\n\r\n")
        for _ in range(4):
            answer = await client.ask(chat(stream=stream))
            assert answer.status == 200
            assert answer.headers["x-heterodyne-replica"] == "pool-1"
        await rig.wait_empty()


async def test_a_request_that_fails_everywhere_is_asked_once_of_each() -> None:
    async with gateway_over(behaviours.raw(b""), behaviours.raw(b"")) as rig, connected(rig.port) as client:
        await both_ready(rig.engines, client, rig.port)
        calls_before = sum(len(engine.calls) for engine in rig.engines)
        assert (await client.ask(chat())).error["code"] == "engine_broke"
        assert sum(len(engine.calls) for engine in rig.engines) - calls_before == 2
        await rig.wait_empty()


async def test_a_request_is_not_asked_again_once_its_answer_has_begun() -> None:
    async with gateway_over(behaviours.stream_then(), behaviours.stream_then()) as rig, connected(rig.port) as client:
        answer = await client.ask(chat(stream=True))
        assert b'"code":"engine_broke"' in answer.body
        assert sum(len(engine.calls) for engine in rig.engines) == 1


async def test_a_replica_that_is_down_gets_no_requests_until_it_is_back() -> None:
    async with gateway_over(behaviours.stream(2)) as rig, connected(rig.port) as client:
        rig.engine.is_healthy = False
        async with asyncio.timeout(30):
            while (answer := await client.ask(chat())).status == 200:
                await asyncio.sleep(0.05)
        assert answer.error["code"] == "engine_unavailable"
        assert "No replica of 'scripted' is ready" in answer.error["message"]
        rig.engine.is_healthy = True
        async with asyncio.timeout(30):
            while (await client.ask(chat())).status != 200:
                await asyncio.sleep(0.05)


async def inference_connections(engine: ScriptedEngine) -> int:
    """Open connections that are not a probe's, which come and go."""
    await asyncio.sleep(0.05)
    return len(engine.connections)


async def both_ready(engines: tuple[ScriptedEngine, ...], client: object, port: int) -> None:
    """The first replica that is ready makes the gateway so; give the other a moment."""
    async with asyncio.timeout(30):
        while not all(engine.connections_made for engine in engines):
            await asyncio.sleep(0.005)
    await asyncio.sleep(0.03)
