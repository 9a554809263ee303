"""A replica fails and the client does not notice: retries before the first token, continuation after it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heterodyne.domain.record import RequestRecord
from heterodyne.emulator.faults import Faults, Garble
from heterodyne.emulator.server import EmulatorServer
from heterodyne.physics.engine_kind import EngineKind
from tests.support.emulators import order
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, connected
from tests.support.requests import chat

MODEL = "llama-3.1-8b"
POOL = {"model": MODEL, "engine": "vllm"}
ASKED = 20  # equal replicas are drawn by chance: one in a million draws only one of two


@asynccontextmanager
async def fleet(
    *faults: Faults, records: Path | None = None, engine: EngineKind = EngineKind.VLLM, **settings: Any
) -> AsyncIterator[tuple[Rig, list[EmulatorServer]]]:
    """A gateway over one emulated replica for each of these."""
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(EmulatorServer(order(engine), faults=fault)) for fault in faults]
        pool = {**POOL, "engine": engine.value, "urls": tuple(server.url for server in servers)}
        rig = await stack.enter_async_context(gateway_over(pool=pool, records=records, **settings))
        async with asyncio.timeout(30):
            while rig.holds().replicas_takeable < len(servers):
                await asyncio.sleep(0.005)
        yield rig, servers


def ask(content: str = "why is the sky blue?", **fields: Any) -> bytes:
    return chat(**{"model": MODEL, "messages": [{"role": "user", "content": content}], **fields})


async def unbroken(engine: EngineKind = EngineKind.VLLM, **fields: Any) -> Answer:
    """The answer of a replica that does not fail."""
    async with fleet(Faults(), engine=engine) as (rig, _), connected(rig.port) as client:
        return await client.ask(ask(**fields))


def ids(answer: Answer) -> set[str]:
    return {msgspec.json.decode(event)["id"] for event in answer.events if event != b"[DONE]"}


@pytest.mark.parametrize("garble", list(Garble))
async def test_a_stream_that_breaks_goes_on_elsewhere_as_if_nothing_had_happened(
    garble: Garble, tmp_path: Path
) -> None:
    fields = {"stream": True, "stream_options": {"include_usage": True}}
    whole = await unbroken(**fields)
    broken = Faults(garble=garble, garble_after_tokens=5, garble_share=1.0)
    async with fleet(broken, Faults(), records=tmp_path / "records") as (rig, servers):
        async with connected(rig.port) as client:
            for _ in range(ASKED):
                answer = await client.ask(ask(**fields))
                assert answer.status == 200
                assert answer.text == whole.text
                assert len(ids(answer)) == 1, "one stream, one id"
                usages = [u for event in answer.events[:-1] if (u := msgspec.json.decode(event).get("usage"))]
                assert [u["completion_tokens"] for u in usages] == [len(whole.text) // 4]
        records = await rig.wait_records(ASKED)
        assert sum(record.continuations for record in records) >= 1
        assert all(record.completion_tokens == len(whole.text) // 4 for record in records)
        assert all(server.engine.machine.running == 0 for server in servers)


async def test_a_replica_that_dies_mid_stream_is_replaced(tmp_path: Path) -> None:
    whole = await unbroken(stream=True)
    async with fleet(Faults(crash_after_tokens=8), Faults(), records=tmp_path / "records") as (rig, _):
        async with connected(rig.port) as client:
            answers = [await client.ask(ask(stream=True)) for _ in range(2)]
        assert [answer.text for answer in answers] == [whole.text] * 2
        records = await rig.wait_records(2)
        assert [record.status for record in records] == [200, 200]


async def test_a_stream_is_continued_more_than_once() -> None:
    whole = await unbroken(stream=True)
    breaks = Faults(garble=Garble.CUT, garble_after_tokens=4)
    async with fleet(breaks, breaks, Faults()) as (rig, _), connected(rig.port) as client:
        assert [(await client.ask(ask(stream=True))).text for _ in range(3)] == [whole.text] * 3


@pytest.mark.parametrize(
    "fields",
    [
        {"n": 2},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
        {"response_format": {"type": "json_object"}},
        {"logprobs": True},
    ],
    ids=lambda fields: next(iter(fields)),
)
async def test_what_cannot_be_taken_up_soundly_ends_as_an_error(fields: dict[str, Any]) -> None:
    breaks = Faults(garble=Garble.CUT, garble_after_tokens=4)
    async with fleet(breaks, breaks) as (rig, _), connected(rig.port) as client:
        answer = await client.ask(ask(stream=True, **fields))
        assert msgspec.json.decode(answer.events[-1])["error"]["code"] == "engine_broke"
        assert b"[DONE]" not in answer.body


async def test_continuation_can_be_turned_off() -> None:
    breaks = Faults(garble=Garble.CUT, garble_after_tokens=4)
    async with (
        fleet(breaks, breaks, gateway={"continues_streams": False}) as (rig, _),
        connected(rig.port) as client,
    ):
        answer = await client.ask(ask(stream=True))
        assert msgspec.json.decode(answer.events[-1])["error"]["code"] == "engine_broke"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    "fault",
    [
        Faults(refuse_status=500),
        Faults(refuse_status=503, retry_after_s=7),
        Faults(refuse_status=429),
        Faults(garble=Garble.CUT, garble_after_tokens=0),
        Faults(garble=Garble.ERROR, garble_after_tokens=0),
    ],
    ids=["500", "503", "429", "cut", "error"],
)
async def test_a_failure_before_the_first_token_is_somebody_elses_request(fault: Faults, stream: bool) -> None:
    whole = await unbroken(stream=True)
    async with fleet(fault, Faults()) as (rig, _), connected(rig.port) as client:
        for _ in range(2):
            answer = await client.ask(ask(stream=stream))
            assert answer.status == 200
            assert (answer.text if stream else answer.json["choices"][0]["message"]["content"]) == whole.text


async def test_when_everybody_is_busy_the_client_hears_when_to_come_back() -> None:
    busy = Faults(refuse_status=503, retry_after_s=7)
    async with fleet(busy, busy) as (rig, _), connected(rig.port) as client:
        answer = await client.ask(ask())
        assert (answer.status, answer.headers["retry-after"]) == (503, "7")


async def test_retries_stay_within_their_budget() -> None:
    """With every replica failing, requests do not multiply without end."""
    failing = Faults(refuse_status=500)
    async with fleet(failing, failing, failing, failing) as (rig, _), connected(rig.port) as client:
        long = "word " * 700  # too long for the reserve to cover many
        for _ in range(40):
            assert (await client.ask(ask(long))).status in (502, 503)
        assert rig.server.snapshot().in_flight == 0


async def test_a_late_first_token_gets_a_rival(tmp_path: Path) -> None:
    generous = {"hedge_share": 0.5}
    async with fleet(Faults(), Faults(), records=tmp_path / "records", routing=generous) as (rig, servers):
        async with connected(rig.port) as client:
            for _ in range(60):
                await client.ask(ask(stream=True, max_tokens=1))
            records: list[RequestRecord] = []
            while not any(record.is_hedged for record in records):
                assert len(records) < 60 + 2 * 60, "it was asked, and no rival after it"
                # Who was asked last is the likely next one, and is stalled for one request: health would see more.
                last = await client.ask(ask(stream=True, max_tokens=3))
                stalled = servers[int(last.headers["x-heterodyne-replica"].rpartition("-")[2])].engine
                stalled.set_faults(Faults(stall=True))
                answer = await asyncio.wait_for(client.ask(ask(stream=True, max_tokens=3)), 10)
                stalled.set_faults(Faults())
                assert answer.status == 200
                records = await rig.wait_records(max(len(records), 60) + 2)
        after = records[60:]
        # Two replicas worked on it, and it is charged once: what the client was given.
        assert {record.completion_tokens for record in after} == {3}
        assert len({record.id for record in after}) == len(after)


async def test_dead_replicas_are_passed_over_until_somebody_listens() -> None:
    """However many have just died: a refused connection costs nobody work."""
    whole = await unbroken(stream=True)
    async with fleet(*[Faults()] * 6) as (rig, servers), connected(rig.port) as client:
        for server in servers[:5]:
            await server.close()
        assert (await client.ask(ask(stream=True))).text == whole.text
