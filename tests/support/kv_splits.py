"""Prompts that are quick to compute on one emulated vLLM, and answered by a slow one: the router itself splits them."""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from heterodyne.domain.fleet import ReplicaId
from heterodyne.emulator.faults import Faults
from heterodyne.emulator.order import EmulatorOrder
from heterodyne.emulator.server import EmulatorServer
from heterodyne.routing.health.snapshot import ReplicaHealthSnapshot
from heterodyne.routing.router import Router
from tests.support.emulators import order
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat

MODEL = "llama-3.1-8b"
SIDE = {"model": MODEL, "engine": "vllm", "kv_transfer": "nixl", "version": "1", "kv_link": "h100-sxm"}
PREFILL = ReplicaId("pool-0")
SLOW = 100  # of those that answer: as slow with prompts as their accelerator is thought to be
ASKED_MAX = 60  # one in a hundred prompts is not handed over to see what that costs
NUMBERS = itertools.count()


class Split:
    """A quick replica for prompts, a slow one for answers, and a gateway that has learned to use both."""

    def __init__(self, rig: Rig, prefill: EmulatorServer, decode: EmulatorServer) -> None:
        self.rig, self.prefill, self.decode = rig, prefill, decode

    async def ask(self) -> None:
        """One long prompt that nobody has seen, answered whole."""
        content = f"{next(NUMBERS)} " + "the sea is wide and deep and blue and cold, " * 250
        async with connected(self.rig.port) as client:
            asked = chat(model=MODEL, messages=[{"role": "user", "content": content}], max_tokens=5, stream=True)
            answer = await client.ask(asked)
        assert (answer.status, answer.events[-1]) == (200, b"[DONE]")

    async def ask_until(self, is_so: Callable[[], bool]) -> int:
        """How many it took."""
        for asked in range(ASKED_MAX):
            if is_so():
                return asked
            self.trust_link()
            await self.ask()
        assert is_so()
        return ASKED_MAX

    def trust_link(self) -> None:
        """As if a transfer had just arrived, so that one that failed is no reason to leave it alone."""
        now_s = self.rig.gateway._upstream.clock()
        self.router.fabric.links.hear("pool", "answers", 1e8, 0.02, now_s)

    @property
    def router(self) -> Router:
        return self.rig.gateway._upstream.router

    @property
    def health(self) -> ReplicaHealthSnapshot:
        """Of the prefill replica, as the fleet page and the metrics have it."""
        return next(one for one in self.rig.server.fleet_health().replicas if one.replica == PREFILL)

    @property
    def prompts(self) -> int:
        """That the prefill replica was asked for."""
        return sum(self.health.outcomes.values())


@asynccontextmanager
async def split(
    *, prefill: EmulatorOrder | None = None, has_other: bool = False, **routing: float
) -> AsyncIterator[Split]:
    """With another replica for answers, if a test wants one."""
    async with AsyncExitStack() as stack:
        prompts = await stack.enter_async_context(EmulatorServer(prefill or order()))
        names = ("answers", "others") if has_other else ("answers",)
        answering = {name: await stack.enter_async_context(EmulatorServer(order())) for name in names}
        slow = SIDE | {"role": "decode", "hardware": "l4"}
        rig = await stack.enter_async_context(
            gateway_over(
                pool=SIDE | {"urls": (prompts.url,), "role": "prefill", "hardware": "h100-sxm"},
                rivals={name: (server, slow) for name, server in answering.items()},
                model={"kv": "split", "slo_ttft_ms": 500.0},
                routing={"breaker_failures": 1000, **routing},
            )
        )
        await rig.wait(lambda: rig.gateway.takeable() == 1 + len(answering))
        for server in answering.values():
            server.engine.set_faults(Faults(slowdown=SLOW))
        one = Split(rig, prompts, answering["answers"])
        await one.ask_until(lambda: any(server.engine.kv.reads for server in answering.values()))
        yield one
        await rig.wait_empty()
        prompts.engine.kv.end_leases()
