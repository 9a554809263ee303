"""What requests hold is counted, shown, and missed when it is held for nobody."""

import asyncio
import re
from contextlib import AsyncExitStack
from typing import Any

import pytest

from heterodyne.gateway.holdings import LOOK_S, LOOKS_MIN, Holdings
from heterodyne.testing import behaviours
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import ask, connected
from tests.support.requests import chat, get
from tests.support.turnstile import Turnstile

HELD = re.compile(rb'^heterodyne_gateway_held\{what="(\w+)"\} (\S+)$', re.MULTILINE)


async def held(rig: Rig) -> dict[str, float]:
    page = (await ask(rig.port, get("/metrics"))).body
    return {what.decode(): float(value) for what, value in HELD.findall(page)}


async def test_everything_that_a_request_holds_is_on_the_metrics_page_until_it_ends() -> None:
    turnstile = Turnstile()
    async with gateway_over(turnstile, pool={"in_flight_max": 1}) as rig:
        running = asyncio.create_task(ask(rig.port, chat(stream=True)))
        await turnstile.wait_came(1)
        async with connected(rig.port) as client:
            await client.send(chat())
            await rig.wait(lambda: rig.holds().held.waiting == 1)
            shown = await held(rig)
            assert shown.keys() == set(Holdings.__struct_fields__)
            assert {what for what, value in shown.items() if value} == {
                *("requests", "exchanges", "attempts", "tickets", "tokens", "work_s", "interactive", "standings"),
                *("waiting", "engine_connections"),
            }
            client.leave()
        turnstile.let(1)
        assert (await running).status == 200
        await rig.wait_empty()
        assert not any((await held(rig)).values())


@pytest.mark.parametrize("is_cut", [True, False], ids=["cut", "drained"])
async def test_a_gateway_that_ends_with_requests_under_way_gives_back_what_they_held(is_cut: bool) -> None:
    settings: dict[str, Any] = {"gateway": {"drain_timeout_s": 0.05}, "pool": {"in_flight_max": 1}}
    async with AsyncExitStack() as clients, gateway_over(behaviours.answer(delay_s=3600), **settings) as rig:
        first, second = [await clients.enter_async_context(connected(rig.port)) for _ in range(2)]
        await first.send(chat(stream=True))
        await rig.wait(lambda: len(rig.engine.calls) == 1)
        await second.send(chat())
        await rig.wait(lambda: rig.holds().held.waiting == 1)
        if not is_cut:
            await rig.server.drain()
            assert (await first.answer()).error["code"] == "draining"
            assert (await second.answer()).error["code"] == "draining"
            await rig.wait_empty()
    assert rig.holds().held.left == {}


async def test_what_is_held_for_nobody_is_said_once_and_when_it_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    async with gateway_over(behaviours.answer()) as rig:
        concurrency_limit, watch = rig.server._in_flight.limit, rig.server._holdings
        concurrency_limit.occupy("pool-0")  # type: ignore[arg-type]  # a place that nobody will vacate
        try:
            at_s = rig.server._clock()
            for look in range(1, 3 * LOOKS_MIN):
                at_s += 2 * LOOK_S
                watch.look(at_s)
                assert watch.is_leaking is (look >= LOOKS_MIN)
        finally:
            concurrency_limit.vacate("pool-0")  # type: ignore[arg-type]
        watch.look(at_s + 2 * LOOK_S)
        assert not watch.is_leaking
    said = capsys.readouterr()
    told = [line for line in (said.out + said.err).splitlines() if "held_for_nobody " in line]
    assert len(told) == 1
    assert "attempts=1" in told[0]
