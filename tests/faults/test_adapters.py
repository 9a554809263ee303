"""LoRA adapters by name: loaded where they are asked for, kept within limits, and never missed by a client."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heterodyne.emulator.adapters import AdapterRefusal, EmulatedAdapters
from heterodyne.emulator.faults import Faults
from heterodyne.emulator.server import EmulatorServer
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.telemetry import metrics
from tests.support.emulators import order
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, ask, connected
from tests.support.requests import chat, get

MODEL = "llama-3.1-8b"
ADAPTERS = {"law": "/srv/law", "code": "/srv/code", "tales": "/srv/tales"}
BOTH = pytest.mark.parametrize("engine", [EngineKind.VLLM, EngineKind.SGLANG], ids=["vllm", "sglang"])


class Remembered(EmulatedAdapters):
    """Remembers what was ordered."""

    def __init__(self, room: int, names: tuple[str, ...]) -> None:
        super().__init__(room, names)
        self.orders: list[tuple[str, str]] = []

    def try_load(self, name: str, path: str) -> AdapterRefusal | None:
        if hasattr(self, "orders"):
            self.orders.append(("load", name))
        return super().try_load(name, path)

    def try_unload(self, name: str) -> AdapterRefusal | None:
        self.orders.append(("unload", name))
        return super().try_unload(name)


class Server(EmulatorServer):
    """An emulator that remembers its orders since it was started."""

    adapters: Remembered

    async def open(self) -> None:
        await super().open()
        self.engine.adapters = self.adapters = Remembered(self.order.adapters_max, self.order.adapters)

    @property
    def orders(self) -> list[tuple[str, str]]:
        return self.adapters.orders

    @property
    def holds(self) -> list[str]:
        return list(self.engine.adapters)


@asynccontextmanager
async def fleet(
    *rooms: int,
    engine: EngineKind = EngineKind.VLLM,
    adapters_max: int = 4,
    speed: float = 10.0,
    records: Path | None = None,
    **pool: Any,
) -> AsyncIterator[tuple[Rig, list[Server]]]:
    """A gateway over one emulated replica for each of these, which has room for so many adapters."""
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(Server(order(engine, adapters_max=room, speed=speed))) for room in rooms
        ]
        settings = {
            "model": MODEL,
            "engine": engine.value,
            "urls": tuple(server.url for server in servers),
            "adapters": ADAPTERS,
            "adapters_max": adapters_max,
            **pool,
        }
        rig = await stack.enter_async_context(gateway_over(pool=settings, records=records))
        async with asyncio.timeout(30):
            while rig.holds().replicas_takeable < len(servers):
                await asyncio.sleep(0.005)
        yield rig, servers


def question(model: str, **fields: Any) -> bytes:
    return chat(**{"model": model, "messages": [{"role": "user", "content": "why?"}], "max_tokens": 4, **fields})


async def asked(rig: Rig, model: str, **fields: Any) -> Answer:
    return await ask(rig.port, question(model, **fields))


@BOTH
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_an_adapter_is_loaded_when_it_is_asked_for_and_found_again(
    engine: EngineKind, stream: bool, tmp_path: Path
) -> None:
    async with fleet(4, 4, engine=engine, records=tmp_path / "records") as (rig, servers):
        for _ in range(6):
            assert (await asked(rig, "law", stream=stream)).status == 200
        assert sorted(len(server.holds) for server in servers) == [0, 1], "one replica holds it and gets them all"
        assert [order for server in servers for order in server.orders] == [("load", "law")]
        records = await rig.wait_records(6)
        assert {(one.model, one.asked_model) for one in records} == {(MODEL, "law")}
        assert len({one.replica for one in records}) == 1
        assert (await asked(rig, MODEL)).status == 200


async def test_sglang_is_asked_for_the_adapter_and_not_for_the_model_alone() -> None:
    async with fleet(4, engine=EngineKind.SGLANG, speed=0.5) as (rig, (server,)):
        waiting = asyncio.create_task(asked(rig, "law", max_tokens=40))
        async with asyncio.timeout(30):
            while not server.engine.machine.running:
                await asyncio.sleep(0.005)
        planned = [generation.planned[0] for generation, _ in server.engine._answers.values()]
        assert [one.adapter for one in planned] == ["law"]
        assert (await waiting).status == 200


@BOTH
async def test_requests_at_once_share_one_load(engine: EngineKind) -> None:
    async with fleet(4, 4, engine=engine) as (rig, servers):
        answers = await asyncio.gather(*(asked(rig, "law") for _ in range(12)))
        assert {answer.status for answer in answers} == {200}
        assert [order for server in servers for order in server.orders] == [("load", "law")]


@BOTH
async def test_at_the_limit_the_one_used_longest_ago_makes_room(engine: EngineKind) -> None:
    async with fleet(4, engine=engine, adapters_max=2) as (rig, (server,)):
        for name in ("law", "code", "law", "tales"):
            assert (await asked(rig, name)).status == 200
            assert len(server.holds) <= 2
        assert server.orders == [("load", "law"), ("load", "code"), ("unload", "code"), ("load", "tales")]
        assert (await asked(rig, "code")).status == 200
        assert sorted(server.holds) == ["code", "tales"]


@BOTH
async def test_an_adapter_in_use_is_not_unloaded(engine: EngineKind) -> None:
    async with fleet(4, engine=engine, adapters_max=1, speed=1.0) as (rig, (server,)):
        async with connected(rig.port) as client:
            await client.send(question("law", stream=True, max_tokens=40, ignore_eos=True))
            await client.head()
            second = asyncio.create_task(asked(rig, "code"))
            ended = asyncio.create_task(client.body({"transfer-encoding": "chunked"}))
            async with asyncio.timeout(30):
                while not ended.done():
                    assert server.holds == ["law"], "while its answer runs it stays"
                    await asyncio.sleep(0.005)
            assert b"[DONE]" in await ended
        assert (await second).status == 200
        assert server.holds == ["code"]


@BOTH
async def test_a_replica_that_cannot_load_is_passed_over(engine: EngineKind) -> None:
    failures = metrics.adapter_failures.cell((MODEL, "pool", "refused"))[0]
    async with fleet(0, 4, engine=engine) as (rig, (full, roomy)):
        for name in ("law", "code", "tales"):
            assert (await asked(rig, name)).status == 200
        assert (full.holds, roomy.holds) == ([], ["law", "code", "tales"])
        fleet_health = rig.server.fleet_health()
        assert all(one.obstacle is None for one in fleet_health.replicas), "it is no fault of the replica's"
    assert metrics.adapter_failures.cell((MODEL, "pool", "refused"))[0] >= failures


async def test_when_nobody_can_load_it_the_client_hears_the_engines_words() -> None:
    async with fleet(0, 0) as (rig, _):
        answer = await asked(rig, "law")
        assert (answer.status, answer.error["code"]) == (503, "adapter_unavailable")
        assert "No free adapter slots" in answer.error["message"]
        assert (await asked(rig, MODEL)).status == 200
        await rig.wait_empty()


async def test_a_load_that_failed_is_not_repeated_at_once() -> None:
    async with fleet(0) as (rig, (server,)):
        for _ in range(5):
            assert (await asked(rig, "law")).status == 503
        assert server.orders == [("load", "law")]


@BOTH
async def test_an_engine_that_restarts_is_given_the_adapter_again(engine: EngineKind) -> None:
    async with fleet(4, engine=engine) as (rig, (server,)):
        assert (await asked(rig, "law")).status == 200
        await server.close()
        await server.open()
        async with asyncio.timeout(30):
            while (await asked(rig, MODEL)).status != 200:
                await asyncio.sleep(0.02)
        assert (await asked(rig, "law")).status == 200
        assert server.holds == ["law"]


@BOTH
async def test_an_adapter_that_somebody_else_unloaded_is_loaded_again_within_the_request(engine: EngineKind) -> None:
    async with fleet(4, engine=engine) as (rig, (server,)):
        assert (await asked(rig, "law")).status == 200
        server.engine.adapters.try_unload("law")
        assert (await asked(rig, "law")).status == 200
        assert server.holds == ["law"]


async def test_an_adapter_that_somebody_else_loaded_is_not_loaded_again() -> None:
    async with fleet(4) as (rig, (server,)):
        server.engine.adapters.try_load("law", "/srv/law")
        assert (await asked(rig, "law")).status == 200
        assert server.orders == [("load", "law")], "by the test, and by nobody else"


async def test_a_client_that_leaves_while_an_adapter_is_loaded_leaves_nothing_behind() -> None:
    async with fleet(4, adapters_max=1, speed=0.5) as (rig, _):
        async with connected(rig.port) as first, connected(rig.port) as second:
            await first.send(question("law", stream=True, max_tokens=200, ignore_eos=True))
            await first.head()
            await second.send(question("code"))
            await asyncio.sleep(0.1)
            assert rig.holds().in_flight == 2
            second.leave()
            async with asyncio.timeout(30):
                while rig.holds().in_flight != 1:
                    await asyncio.sleep(0.005)
            first.leave()
        await rig.wait_empty()
        assert (await asked(rig, "law")).status == 200


async def test_a_deadline_holds_while_an_adapter_waits_for_room() -> None:
    async with fleet(4, adapters_max=1, speed=0.5) as (rig, _), connected(rig.port) as first:
        await first.send(question("law", stream=True, max_tokens=400, ignore_eos=True))
        await first.head()
        body = msgspec.json.encode({"model": "code", "messages": [{"role": "user", "content": "why?"}]})
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        limits = b"x-heterodyne-deadline-ms: 300\r\ncontent-length: %d\r\n\r\n" % len(body)
        answer = await ask(rig.port, head + limits + body)
        assert (answer.status, answer.error["code"]) == (504, "deadline_exceeded")
        first.leave()


async def test_adapters_are_listed_with_their_model() -> None:
    async with fleet(4) as (rig, _):
        listed = (await ask(rig.port, get("/v1/models"))).json["data"]
        assert [(one["id"], one.get("parent")) for one in listed] == [
            (MODEL, None),
            *((name, MODEL) for name in ADAPTERS),
        ]
        one = (await ask(rig.port, get("/v1/models/law"))).json
        assert (one["id"], one["parent"]) == ("law", MODEL)


async def test_an_adapter_nobody_declares_is_unknown_and_the_nearest_name_is_offered() -> None:
    async with fleet(4) as (rig, _):
        answer = await asked(rig, "laws")
        assert (answer.status, answer.error["code"]) == (404, "model_not_found")
        assert "Did you mean 'law'?" in answer.error["message"]


async def test_an_adapter_the_engine_came_with_needs_no_loading() -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(Server(order(adapters=("own",), adapters_max=1)))
        pool = {"model": MODEL, "engine": "vllm", "urls": (server.url,)}
        rig = await stack.enter_async_context(gateway_over(pool=pool))
        async with asyncio.timeout(30):
            while (await asked(rig, "own")).status != 200:
                await asyncio.sleep(0.02)
        assert server.orders == []


async def test_a_broken_stream_of_an_adapter_goes_on_with_the_adapter() -> None:
    async with fleet(4, 4, speed=1.0) as (rig, servers):
        servers[0].engine.set_faults(Faults(crash_after_tokens=6))
        servers[1].engine.set_faults(Faults())
        answers = [await asked(rig, "law", stream=True, max_tokens=20, ignore_eos=True) for _ in range(2)]
        assert all(b"[DONE]" in answer.body for answer in answers)
        assert answers[0].text == answers[1].text
        assert "law" in servers[1].holds
