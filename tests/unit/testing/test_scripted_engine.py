"""The fake does what it is told, and remembers what it was asked."""

import asyncio

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from tests.support.raw_client import ask, connected
from tests.support.requests import chat, get


async def test_it_answers_as_a_healthy_engine_and_as_one_that_is_not() -> None:
    async with ScriptedEngine(behaviours.answer(), model="mine") as engine:
        assert (await ask(engine.port, get("/v1/models"))).json["data"][0]["id"] == "mine"
        assert (await ask(engine.port, get("/health"))).status == 200
        engine.is_healthy = False
        assert (await ask(engine.port, get("/health"))).status == 503
        assert engine.calls == []


async def test_it_streams_and_gives_usage_when_asked() -> None:
    async with ScriptedEngine(behaviours.stream(3)) as engine, connected(engine.port) as client:
        answer = await client.ask(chat(stream=True, stream_options={"include_usage": True}))
        assert answer.text == " hello hello hello"
        assert b'"completion_tokens":3' in answer.events[-2]
        assert b"usage" not in (await client.ask(chat(stream=True))).body
        assert [call.is_answered for call in engine.calls] == [True, True]


async def test_it_notices_that_its_caller_has_gone() -> None:
    async with ScriptedEngine(behaviours.answer(delay_s=60)) as engine:
        async with connected(engine.port) as client:
            await client.send(chat())
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.05)
        assert engine.calls[0].was_cancelled
        assert not engine.connections


async def test_it_comes_back_on_the_port_it_had() -> None:
    engine = ScriptedEngine(behaviours.answer())
    await engine.open()
    port = engine.port
    await engine.close()
    await engine.open()
    assert engine.port == port
    assert (await ask(port, chat())).status == 200
    await engine.close()
