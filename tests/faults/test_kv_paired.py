"""SGLang's pairs, byte by byte: both replicas are asked at once, and one that is left alone is asked once more."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.gateway.kv.kv_failure import KvOutcome
from heterodyne.telemetry import metrics
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.support.gateways import Rig, gateway_over
from tests.support.kv_plans import Planner, put_before
from tests.support.raw_client import Answer, connected
from tests.support.requests import MODEL, chat

PAIR = {"engine": "sglang", "kv_transfer": "sglang", "version": "1", "labels": {"kv_bootstrap_port": "9001"}}
ROOM = "bootstrap_room"


def unless_paired(bad: Behaviour) -> Behaviour:
    """Well, but for calls that speak of a pair."""
    good = behaviours.stream(3)

    async def behave(call: EngineCall) -> None:
        await (bad if ROOM in call.json else good)(call)

    return behave


@asynccontextmanager
async def pair(prefill: Behaviour, decode: Behaviour, **decode_pool: object) -> AsyncIterator[Rig]:
    async with gateway_over(prefill, pool=PAIR, rivals={"decode": (decode, {**PAIR, **decode_pool})}) as rig:
        router = rig.gateway._upstream.router
        planner = Planner(router)
        planner.target, planner.source = "decode-0", "pool-0"  # type: ignore[assignment]
        put_before(router, planner)
        yield rig


async def ask(rig: Rig) -> Answer:
    async with connected(rig.port) as client:
        return await client.ask(chat(stream=True))


def counted(outcome: KvOutcome) -> float:
    return metrics.kv_transfers.cell((MODEL, "decode", KvOrigin.PREFILL.value, outcome.value))[0]


async def test_both_are_asked_at_once_and_told_the_same_place() -> None:
    rooms: list[object] = []

    async def noted(call: EngineCall) -> None:
        rooms.append({name: value for name, value in call.json.items() if name.startswith("bootstrap")})
        async with asyncio.timeout(10):
            while len(rooms) < 2:  # neither answers before both were asked
                await asyncio.sleep(0.001)
        await behaviours.stream(3)(call)

    before = counted(KvOutcome.ARRIVED)
    async with pair(noted, noted) as rig:
        answer = await ask(rig)
        assert (answer.status, answer.headers["x-heterodyne-replica"]) == (200, "decode-0")
    first, second = rooms
    assert first == second
    assert isinstance(first, dict)
    assert (first["bootstrap_host"], first["bootstrap_port"]) == ("127.0.0.1", 9001)
    assert 0 <= first[ROOM] < 2**63
    assert counted(KvOutcome.ARRIVED) - before == 1


async def test_where_prefill_fails_the_other_is_asked_once_more() -> None:
    before = counted(KvOutcome.UNREACHABLE)
    async with pair(behaviours.refuse(500), unless_paired(behaviours.raw(b"", then="hang"))) as rig:
        answer = await ask(rig)
        assert (answer.status, answer.events[-1]) == (200, b"[DONE]")
        assert counted(KvOutcome.UNREACHABLE) - before == 1


async def test_an_error_to_a_call_that_speaks_of_a_pair_is_not_the_clients() -> None:
    before = counted(KvOutcome.REFUSED)
    async with pair(behaviours.stream(1), unless_paired(behaviours.refuse(500))) as rig:
        answer = await ask(rig)
        assert (answer.status, answer.events[-1]) == (200, b"[DONE]")
        assert counted(KvOutcome.REFUSED) - before == 1


async def test_a_stream_that_begins_with_an_error_is_asked_for_once_more() -> None:
    before = counted(KvOutcome.UNREACHABLE)
    events = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    error = b'data: {"error": {"message": "KV load failed", "code": 500}}\n\n'
    broken = behaviours.raw(events + b"%x\r\n%b\r\n0\r\n\r\n" % (len(error), error))
    async with pair(behaviours.stream(1), unless_paired(broken)) as rig:
        answer = await ask(rig)
        assert (answer.status, answer.events[-1]) == (200, b"[DONE]")
        assert counted(KvOutcome.UNREACHABLE) - before == 1


async def test_replicas_that_do_not_hold_kv_alike_are_not_paired() -> None:
    before = counted(KvOutcome.MISMATCHED)
    async with pair(behaviours.stream(1), behaviours.stream(3), version="2") as rig:
        assert (await ask(rig)).status == 200
        assert (counted(KvOutcome.MISMATCHED) - before, rig.engine.calls) == (1, [])


async def test_what_clients_say_of_a_pair_themselves_is_refused() -> None:
    async with pair(behaviours.stream(1), behaviours.stream(3)) as rig, connected(rig.port) as client:
        for field in ("bootstrap_room", "kv_transfer_params", "id_slot", "disaggregated_params"):
            answer = await client.ask(chat(**{field: 1}))
            assert (answer.status, answer.error["param"]) == (400, field)
        assert msgspec.json.encode(rig.engine.calls) == b"[]"
