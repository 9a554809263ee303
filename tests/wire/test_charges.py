"""What a request costs that its client does not wait for: it is charged from when it is sent."""

import asyncio

import pytest

from heterodyne.domain.tenant import Limits
from heterodyne.stores.leases.memory import MemoryLeases
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.support.gateways import Rig, gateway_over
from tests.support.minutes import today, wait_for_room
from tests.support.raw_client import ask, connected
from tests.support.requests import chat
from tests.support.tenants import PROJECT_LEVEL, bearer, caller, tenants
from tests.support.turnstile import Turnstile

KEY = bearer("key")
NEVER_S = 3600.0
PROMPT = [{"role": "user", "content": "x" * 4000}]  # a thousand tokens, as far as anybody can tell
PROMPT_TOKENS = 1000
DAY = Limits(tokens_per_day=1_000_000, requests_per_day=100, concurrent_requests=10)


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "stream"])
async def test_work_cancelled_before_its_first_byte_is_not_free(is_stream: bool) -> None:
    wait_for_room(10.0)
    callers = tenants(key=caller(limits=Limits(requests_per_minute=5)))
    async with gateway_over(behaviours.answer(delay_s=NEVER_S), tenants=callers) as rig:
        for number in range(5):
            await _leave_before_the_first_byte(rig, number, stream=is_stream)
        for _ in range(10):
            assert (await ask(rig.port, chat(KEY, stream=is_stream))).status == 429
        assert len(rig.engine.calls) == 5


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "stream"])
async def test_its_prompt_is_charged_once(is_stream: bool) -> None:
    leases = MemoryLeases()
    callers = tenants(key=caller(limits=DAY))
    async with gateway_over(behaviours.answer(delay_s=NEVER_S), tenants=callers, leases=leases) as rig:
        await _leave_before_the_first_byte(rig, 0, messages=PROMPT, stream=is_stream, max_tokens=20)
    assert PROMPT_TOKENS <= _used(leases, "tokens_per_day") <= PROMPT_TOKENS + 20
    assert _used(leases, "requests_per_day") == 1


async def test_a_deadline_of_the_clients_own_does_not_make_work_free() -> None:
    leases = MemoryLeases()
    callers = tenants(key=caller(limits=DAY))
    async with gateway_over(behaviours.answer(delay_s=NEVER_S), tenants=callers, leases=leases) as rig:
        late = await ask(rig.port, chat(KEY, "x-heterodyne-deadline-ms: 300", messages=PROMPT, stream=True))
        assert (late.status, late.error["code"]) == (504, "deadline_exceeded")
    assert PROMPT_TOKENS <= _used(leases, "tokens_per_day") <= PROMPT_TOKENS + 20


async def test_what_an_engine_refuses_for_the_callers_fault_counts_as_a_request_without_tokens() -> None:
    leases = MemoryLeases()
    callers = tenants(key=caller(limits=DAY))
    async with gateway_over(behaviours.refuse(400, "no"), tenants=callers, leases=leases) as rig:
        assert (await ask(rig.port, chat(KEY, messages=PROMPT))).status == 400
    assert (_used(leases, "requests_per_day"), _used(leases, "tokens_per_day")) == (1, 0)


async def test_a_request_that_leaves_the_queue_is_free() -> None:
    leases, turnstile = MemoryLeases(), Turnstile()
    callers = tenants(key=caller(limits=DAY))
    async with gateway_over(turnstile, pool={"in_flight_max": 1}, tenants=callers, leases=leases) as rig:
        busy = asyncio.create_task(ask(rig.port, chat(KEY)))
        await turnstile.wait_came(1)
        async with connected(rig.port) as client:
            await client.send(chat(KEY, messages=PROMPT))
            await rig.wait(lambda: rig.holds().held.waiting == 1)
            client.leave()
            await rig.wait(lambda: rig.holds().held.waiting == 0)
        turnstile.let(1)
        assert (await busy).status == 200
    assert turnstile.came == ["hi"]
    assert (_used(leases, "requests_per_day"), _used(leases, "tokens_per_day")) == (1, 7 + 3)


async def test_a_cancelled_stream_whose_events_hold_several_tokens_is_charged_for_all_of_them() -> None:
    leases = MemoryLeases()
    callers = tenants(key=caller(limits=DAY))
    async with gateway_over(_by_the_handful(events=12, tokens_each=4), tenants=callers, leases=leases) as rig:
        for _ in range(3):
            assert (await ask(rig.port, chat(KEY, stream=True))).status == 200
        await asyncio.sleep(0.5)  # what has ended is learned from ten times a second
        rig.engine.behaviour = _by_the_handful(events=12, tokens_each=4, stops_after=6)
        async with connected(rig.port) as client:
            await client.send(chat(KEY, stream=True))
            await client.head()
            seen, chunks = 0, client.chunks()
            while seen < 6:
                seen += (await anext(chunks)).count(b"four")
            client.leave()
        await rig.wait_empty()
    cancelled = _used(leases, "tokens_per_day") - 3 * (7 + 48)
    assert 24 <= cancelled <= 40, "six events of four tokens and a short prompt"


def _by_the_handful(events: int, tokens_each: int, stops_after: int | None = None) -> Behaviour:
    async def behave(call: EngineCall) -> None:
        call.head(200, *behaviours.EVENT_STREAM)
        for number in range(events):
            if number == stops_after:
                await asyncio.sleep(NEVER_S)
            call.event(behaviours.chat_event(" four words at once"))
        call.event(behaviours.chat_event(None, finish_reason="stop"))
        call.event({**behaviours.chat_event(None), "choices": [], "usage": behaviours.usage(7, events * tokens_each)})
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    return behave


async def _leave_before_the_first_byte(rig: Rig, calls: int, **fields: object) -> None:
    async with connected(rig.port) as client:
        await client.send(chat(KEY, **fields))
        await rig.wait(lambda: len(rig.engine.calls) > calls)
        client.leave()
    await rig.wait_empty()


def _used(leases: MemoryLeases, limit: str) -> int:
    """What is counted, once the gateway has closed and given back what it had leased and not used."""
    return leases.used(f"{PROJECT_LEVEL} {limit}", today())
