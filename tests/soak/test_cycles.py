"""The worker collects garbage rarely because requests leave none that only the collector could find."""

import gc
from collections import Counter

from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask, connected
from tests.support.requests import chat, get

ROOMS = ("heterodyne.gateway", "heterodyne.wire", "heterodyne.domain", "heterodyne.engines")


async def test_requests_make_no_reference_cycles() -> None:
    async with gateway_over(behaviours.stream(3)) as rig, connected(rig.port) as client:
        requests = (chat(), chat(stream=True), chat(model="x"), get("/v1/models"), chat("connection: close"))
        gc.collect()
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            for request in requests[:-1]:
                await client.ask(request)
            for request in requests:
                await ask(rig.port, request)
            rig.engine.behaviour = behaviours.stream_then(then="close")
            await client.ask(chat(stream=True))
            rig.engine.behaviour = behaviours.stream(1000, delay_s=0.01)
            async with connected(rig.port) as leaving:
                await leaving.send(chat(stream=True))
                await leaving.head()
            await rig.wait_empty()
            gc.collect()
            left = Counter(type(one).__qualname__ for one in gc.garbage if type(one).__module__.startswith(ROOMS))
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()
        assert not left
