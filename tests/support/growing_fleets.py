"""A gateway over one emulated replica, to which others come while it runs."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from msgspec import structs

from heterodyne.domain.fleet import Health, ReplicaId
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.emulator.order import EmulatorOrder
from heterodyne.emulator.server import EmulatorServer
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.gateway.upstream import Upstream
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.telemetry import metrics
from tests.support.emulators import order
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, connected
from tests.support.requests import chat

MODEL = "llama-3.1-8b"
NEW = ReplicaId("pool-1")
SEA = "the sea is wide and deep and blue and cold, " * 40


class GrowingFleet:
    """The gateway and its engines, the first of which runs."""

    def __init__(self, rig: Rig, engines: Sequence[EmulatorServer]) -> None:
        self.rig = rig
        self.engines = engines
        self.upstream: Upstream = rig.gateway._upstream  # nobody else has the exchanges
        self._version = 0

    def apply(self, replicas: int, **changes: object) -> None:
        """So many of the engines are the fleet now, and the pool is another in this."""
        settings = self.rig.gateway.settings
        urls = tuple(engine.url for engine in self.engines[:replicas])
        pools = {**settings.pools, "pool": structs.replace(settings.pools["pool"], urls=urls, **changes)}
        settings = structs.replace(settings, pools=pools)
        self._version += 1
        self.rig.gateway.apply(settings, remote_replicas(settings), model_rules(settings), self._version)

    async def grow(self, replicas: int = 2) -> None:
        """Until all of them take requests."""
        self.apply(replicas)
        await self.rig.wait(lambda: self.rig.gateway.takeable() == replicas)

    async def ask(self, content: str, *headers: str, **fields: Any) -> Answer:
        """One turn, answered."""
        async with connected(self.rig.port) as client:
            messages = [{"role": "user", "content": content}]
            asked = {"model": MODEL, "messages": messages, "max_tokens": 4, **fields}
            answer = await client.ask(chat(*headers, **asked))
        assert answer.status == 200, answer.body
        return answer

    def health(self, replica: ReplicaId = NEW) -> Health | None:
        """As the watch has it; None: it is not of the fleet."""
        return next((one.health for one in self.rig.gateway.view("").fleet.replicas if one.id == replica), None)


def warmed(outcome: str) -> float:
    """Prompts that new replicas were given so far."""
    return metrics.kv_warm_ups.cell((MODEL, "pool", outcome))[0]


def computed(engine: EmulatorServer) -> float:
    """Prompt tokens, by the engine's own count."""
    return float(engine.engine.observations.computed_tokens.sum)


def prompted(engine: EmulatorServer) -> float:
    """All prompt tokens that it was sent."""
    return float(engine.engine.observations.prompt_tokens.sum)


@asynccontextmanager
async def growing_fleet(
    *,
    replicas: int = 2,
    of: EmulatorOrder | None = None,
    pool: dict[str, Any] | None = None,
    model: dict[str, Any] | None = None,
    routing: dict[str, Any] | None = None,
    kv_stores: dict[str, KvStoreSettings] | None = None,
    tenants: TenantSnapshot | None = None,
) -> AsyncIterator[GrowingFleet]:
    """With `kv_warm_up`, unless the pool says otherwise; the first engine takes requests when the block begins."""
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(EmulatorServer(of or order())) for _ in range(replicas)]
        settings = {"model": MODEL, "engine": "vllm", "urls": (engines[0].url,), "kv_warm_up": 8, **(pool or {})}
        rig = await stack.enter_async_context(
            gateway_over(pool=settings, model=model, routing=routing, kv_stores=kv_stores, tenants=tenants)
        )
        await rig.wait(lambda: rig.gateway.takeable() == 1)
        yield GrowingFleet(rig, engines)
