"""A region that is gone: who may be elsewhere is, who may not is told so, and it is used again when it is back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from heterodyne.domain.tenant import Scopes
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, ask
from tests.support.requests import MODEL, chat
from tests.support.tenants import bearer, caller, tenants

NEAR, FAR = "eu", "us"
TOKENS = 200
SOON_S = 40.0
ANYWHERE, PINNED = bearer("anywhere"), bearer("pinned")
KEYS = tenants(anywhere=caller("acme/other"), pinned=caller(scopes=(Scopes(regions=(NEAR,)),)))


class World:
    """Two engines in each of two regions, the first of which is nearer."""

    def __init__(self, rig: Rig, near: list[ScriptedEngine], far: list[ScriptedEngine]) -> None:
        self.rig = rig
        self.near = near
        self.far = far

    async def ask(self, *headers: str, **fields: object) -> Answer:
        """Whole, unless it says otherwise."""
        return await ask(self.rig.port, chat(*headers, **fields))

    async def lose(self) -> None:
        """All at once, in the middle of whatever they say."""
        await asyncio.gather(*(engine.close() for engine in self.near))

    async def restore(self) -> None:
        await asyncio.gather(*(engine.open() for engine in self.near))
        ready = len(self.near) + len(self.far)
        await self.rig.wait(lambda: self.rig.gateway.takeable() == ready)


@asynccontextmanager
async def world(**pool: Any) -> AsyncIterator[World]:
    near, far = ([ScriptedEngine(behaviours.stream(TOKENS, delay_s=0.005), model=MODEL) for _ in "ab"] for _ in "nf")
    for engine in (*near, *far):
        await engine.open()
    distant = {"urls": tuple(engine.url for engine in far), "region": FAR, "engine": "vllm"}
    async with gateway_over(
        *near,
        pool={"region": NEAR, "engine": "vllm", **pool},
        rivals={"distant": (far[0], distant)},
        model={"regions_first": (NEAR, FAR)},
        routing={"hedge_share": 0.0, "retry_share": 1.0},
        gateway={"deadline_default_s": 60.0},
        tenants=KEYS,
    ) as rig:
        yield World(rig, near, far)
    await far[1].close()


def calls(engines: list[ScriptedEngine]) -> int:
    return sum(len(engine.calls) for engine in engines)


async def test_when_a_region_is_lost_streams_go_on_in_the_next_and_none_of_a_pinned_key() -> None:
    async with world() as at, asyncio.timeout(SOON_S), asyncio.TaskGroup() as group:
        streams = [group.create_task(at.ask(ANYWHERE, stream=True)) for _ in range(8)]
        held = group.create_task(at.ask(PINNED, stream=True))
        await at.rig.wait(lambda: calls(at.near) == 9)
        assert calls(at.far) == 0  # the nearer one is not full
        await at.lose()
        assert {(await stream).events[-1] for stream in streams} == {b"[DONE]"}
        assert b"[DONE]" not in (await held).events  # broken off, and told so
        assert calls(at.far) == 8

        assert (await at.ask(ANYWHERE)).status == 200
        refused = await at.ask(PINNED)
        assert (refused.status, refused.error["code"]) == (503, "engine_unavailable")
        assert NEAR in refused.error["message"]
        assert calls(at.far) == 9


async def test_a_region_that_is_back_is_used_again() -> None:
    async with world() as at, asyncio.timeout(SOON_S):
        await at.lose()
        assert (await at.ask(ANYWHERE)).status == 200
        assert calls(at.far) == 1
        await at.restore()
        while not calls(at.near):  # what has just come is given little at first
            assert (await at.ask(ANYWHERE)).status == 200
        while (await at.ask(PINNED)).status != 200:
            await asyncio.sleep(0.05)


async def test_what_a_region_has_no_room_for_goes_to_the_next_but_not_of_a_pinned_key() -> None:
    go_on = asyncio.Event()
    answer = behaviours.stream(TOKENS)

    async def held(call: EngineCall) -> None:
        await go_on.wait()
        await answer(call)

    async with world(in_flight_max=1) as at, asyncio.timeout(SOON_S), asyncio.TaskGroup() as group:
        for engine in at.near:
            engine.behaviour = held
        pinned = [group.create_task(at.ask(PINNED, stream=True)) for _ in range(4)]
        await at.rig.wait(lambda: calls(at.near) == 2)
        free = [group.create_task(at.ask(ANYWHERE, stream=True)) for _ in range(2)]
        await at.rig.wait(lambda: calls(at.far) == 2)
        assert calls(at.near) == 2  # and two of the pinned key wait their turn
        go_on.set()
        assert {(await stream).status for stream in (*pinned, *free)} == {200}
        assert (calls(at.near), calls(at.far)) == (4, 2)
