"""A worker's view says whose requests wait, so that the supervisor can show it."""

import asyncio

from heterodyne.domain.tenant import Limits
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask
from tests.support.requests import chat
from tests.support.tenants import bearer, caller, tenants
from tests.support.turnstile import Turnstile

KNOWN = tenants(search=caller("acme/search", limits=Limits()), chat=caller("acme/chat", limits=Limits()))


async def test_the_view_counts_those_that_wait_by_project() -> None:
    turnstile = Turnstile()
    async with gateway_over(turnstile, pool={"in_flight_max": 1}, tenants=KNOWN) as rig:
        asked = [asyncio.create_task(ask(rig.port, chat(bearer("search"))))]
        await turnstile.wait_came(1)
        waiting = ("search", "search", "chat")
        asked += [asyncio.create_task(ask(rig.port, chat(bearer(secret)))) for secret in waiting]
        async with asyncio.timeout(30):
            while sum(rig.gateway.view("worker-0").queued_by_project.values()) < 3:
                await asyncio.sleep(0.002)
        assert rig.gateway.view("worker-0").queued_by_project == {"acme/search": 2, "acme/chat": 1}
        turnstile.let(100)
        assert [(await one).status for one in asked] == [200] * 4
        assert rig.gateway.view("worker-0").queued_by_project == {}
        await rig.wait_empty()
