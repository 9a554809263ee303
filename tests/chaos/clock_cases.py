"""A wall clock that somebody sets while a gateway serves, forward and back: through the gateway's own port for it."""

import asyncio
import time

from msgspec import structs

from heterodyne.domain.tenant import Limits
from heterodyne.testing import behaviours
from tests.chaos.seen import Case, Seen
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import ask
from tests.support.requests import chat
from tests.support.tenants import bearer, caller, tenants

DAY_S = 86400.0
NOON_S = DAY_S / 2
A_DAY = 3  # requests of the limited key
WITHIN_S = 20.0


class WallClock:
    """Noon of today, and whatever it is set to."""

    def __init__(self) -> None:
        self._offset_s = time.time() // DAY_S * DAY_S + NOON_S - time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() + self._offset_s

    def step(self, by_s: float) -> None:
        self._offset_s += by_s


async def clock_forward() -> Seen:
    return await _stepped(DAY_S)


async def clock_back() -> Seen:
    return await _stepped(-DAY_S)


async def _stepped(by_s: float) -> Seen:
    clock = WallClock()
    expiring = structs.replace(caller("acme/soon"), expires_at=clock() + 3600)
    known = tenants(
        steady=caller("acme/steady"),
        counted=caller("acme/counted", limits=Limits(requests_per_day=A_DAY)),
        alone=caller("acme/alone", limits=Limits(concurrent_requests=1)),
        soon=expiring,
    )
    async with gateway_over(behaviours.answer(), tenants=known, wall_clock=clock) as rig:
        before = await _count(rig)
        assert before == A_DAY, before
        assert await _status(rig, "soon") == 200
        clock.step(by_s)
        assert await _status(rig, "steady") == 200
        soon = await _status(rig, "soon")
        assert soon == (401 if by_s > 0 else 200)
        moved = await _count(rig)
        assert moved <= A_DAY, "another day has a budget of its own, and no more than that"
        for _ in range(3):  # a place is free when its request has ended, whatever the clock says
            await _until(rig, "alone")
        clock.step(-by_s)
        assert await _status(rig, "steady") == 200
        back = await _count(rig)
        assert before + moved + back <= 2 * A_DAY, "nobody gains a third day by setting a clock twice"
        for _ in range(3):
            await _until(rig, "alone")
        assert await _status(rig, "soon") == 200
        await rig.wait_empty(WITHIN_S)
    requests = "200; a key that has expired by then 401" if by_s > 0 else "200"
    return Seen(
        requests=requests,
        changes="–",
        said=f"429 after {before}, {moved} and {back} of {A_DAY} a day",
        after="well: two days, two budgets",
    )


async def _status(rig: Rig, key: str) -> int:
    return (await ask(rig.port, chat(bearer(key)))).status


async def _count(rig: Rig) -> int:
    """How many requests of the limited key are let in, out of twice as many as may be."""
    statuses = [await _status(rig, "counted") for _ in range(2 * A_DAY)]
    assert set(statuses) <= {200, 429}, statuses
    return statuses.count(200)


async def _until(rig: Rig, key: str) -> None:
    async with asyncio.timeout(WITHIN_S):
        while await _status(rig, key) != 200:
            await asyncio.sleep(0.01)


CLOCK = (
    Case(name="clock forward", what="The wall clock is set a day forward, and then back.", run=clock_forward),
    Case(name="clock back", what="The wall clock is set a day back, and then forward.", run=clock_back),
)
