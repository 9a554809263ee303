"""A prefill replica that fails is ejected as any other replica is; prompts are computed by those that answer."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from heterodyne.domain.fleet import ReplicaId
from heterodyne.emulator.faults import Faults, PoorHandOver
from heterodyne.emulator.server import EmulatorServer
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.health.snapshot import Obstacle, ReplicaHealthSnapshot
from tests.support.emulators import order
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat

MODEL = "llama-3.1-8b"
SIDE = {"model": MODEL, "engine": "vllm", "kv_transfer": "nixl", "version": "1", "kv_link": "h100-sxm"}
PREFILL = ReplicaId("pool-0")
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
            await self.ask()
        assert is_so()
        return ASKED_MAX

    @property
    def health(self) -> ReplicaHealthSnapshot:
        """Of the prefill replica, as the fleet page and the metrics have it."""
        return next(one for one in self.rig.server.fleet_health().replicas if one.replica == PREFILL)

    @property
    def prompts(self) -> int:
        """That the prefill replica was asked for."""
        return sum(self.health.outcomes.values())


@asynccontextmanager
async def split(**routing: float) -> AsyncIterator[Split]:
    async with EmulatorServer(order()) as prompts, EmulatorServer(order()) as answers:
        quick = SIDE | {"urls": (prompts.url,), "role": "prefill", "hardware": "h100-sxm"}
        slow = SIDE | {"role": "decode", "hardware": "l4"}
        async with gateway_over(
            pool=quick,
            rivals={"answers": (answers, slow)},
            model={"kv": "split", "slo_ttft_ms": 500.0},
            routing={"breaker_failures": 1000, **routing},
        ) as rig:
            await rig.wait(lambda: rig.gateway.takeable() == 2)
            answers.engine.set_faults(Faults(slowdown=20))
            one = Split(rig, prompts, answers)
            await one.ask_until(lambda: bool(answers.engine.kv.reads))
            yield one
            prompts.engine.kv.end_leases()


@pytest.mark.parametrize(
    ("faults", "shown"),
    [
        (Faults(refuse_status=500), Outcome.ENGINE_FAILED),
        (Faults(hand_over=PoorHandOver.SILENT), Outcome.GARBAGE),
        (Faults(slowdown=100_000), Outcome.STALLED_BEFORE_FIRST_TOKEN),
    ],
    ids=["it answers 500", "it hands nothing over", "it does not answer in time"],
)
async def test_one_that_fails_is_ejected_and_no_prompt_goes_there(faults: Faults, shown: Outcome) -> None:
    async with split() as one:
        one.prefill.engine.set_faults(faults)
        await one.ask_until(lambda: one.health.obstacle is Obstacle.EJECTED)
        assert one.health.outcomes[shown.value] == 5
        asked = one.prompts
        for _ in range(3):
            await one.ask()
        assert one.prompts == asked, "plain, at once"


async def test_one_that_is_gone_is_ejected() -> None:
    async with split() as one:
        await one.prefill.close()
        await one.ask_until(
            lambda: one.health.obstacle is Obstacle.EJECTED or one.rig.gateway.takeable() == 1  # a probe was first
        )
        await one.ask()


async def test_it_comes_back_and_is_given_prompts_again() -> None:
    async with split(ejection_base_s=0.5, slow_start_s=0.1) as one:
        one.prefill.engine.set_faults(Faults(refuse_status=500))
        await one.ask_until(lambda: bool(one.health.ejections))
        one.prefill.engine.set_faults(Faults())
        await one.rig.wait(lambda: one.health.obstacle is None)
        await asyncio.sleep(0.1)  # its slow start
        reads = one.decode.engine.kv.reads
        await one.ask_until(lambda: one.decode.engine.kv.reads > reads)
        assert one.health.failures_in_a_row == 0


async def test_one_that_is_busy_is_not_ejected() -> None:
    async with split() as one:
        one.prefill.engine.set_faults(Faults(refuse_status=503))
        for _ in range(8):
            await one.ask()
        assert one.health.outcomes[Outcome.REFUSED_BUSY.value] >= 1
        assert one.health.ejections == 0
