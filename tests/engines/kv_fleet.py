"""A gateway over two real engines that exchange KV, and what a turn of a conversation through it took."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from heterodyne.assembly.gateway import running_gateway
from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.supervisor.workers.live_gateway import LiveGateway
from heterodyne.telemetry.settings import TelemetrySettings
from tests.engines.running_vllm import MODEL
from tests.support.kv_plans import Planner
from tests.support.raw_client import connected
from tests.support.requests import chat
from tests.support.tenants import bearer

TURN_TIMEOUT_S = 300.0
FIRST, SECOND = ReplicaId("pool-0"), ReplicaId("pool-1")
Messages = list[dict[str, str]]
# About 900 tokens: several blocks of vLLM's on CPU, which have 128.
LOG = " ".join(
    f"The keeper of lighthouse number {number} wrote in his log that the sea was calm and the lamp was lit."
    for number in range(40)
)


class Turn:
    """One answer."""

    def __init__(self, text: str, ttft_s: float, usage: dict[str, Any], replica: str) -> None:
        self.text, self.ttft_s, self.usage, self.replica = text, ttft_s, usage, replica

    @property
    def cached_tokens(self) -> int:
        return int((self.usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)


class KvFleet:
    """Where requests go, and what is planned for them, is a test's to say."""

    def __init__(self, gateway: LiveGateway, planner: Planner) -> None:
        self.gateway, self.planner = gateway, planner
        self.upstream = gateway._upstream

    async def turn(
        self,
        messages: Messages,
        target: ReplicaId,
        origin: KvOrigin | None = None,
        source: ReplicaId | None = None,
        *,
        secret: str = "",
    ) -> Turn:
        """Streamed, greedy, 24 tokens; under a key, where the gateway has some."""
        self.planner.target, self.planner.origin, self.planner.source = target, origin, source
        began_s, first_s = time.monotonic(), 0.0
        pieces, usage = [], {}
        async with connected(self.gateway.server.port) as client:
            fields = {"temperature": 0, "max_tokens": 24, "stream_options": {"include_usage": True}}
            keys = (bearer(secret),) if secret else ()
            await client.send(chat(*keys, model=MODEL, messages=messages, stream=True, **fields))
            status, headers = await client.head(TURN_TIMEOUT_S)
            assert status == 200, await client.body(headers)
            async for data in client.chunks():
                for event in data.split(b"\n\n"):
                    if not event.startswith(b"data: {"):
                        continue
                    said = msgspec.json.decode(event[6:])
                    usage = said.get("usage") or usage
                    words = [choice["delta"].get("content") or "" for choice in said.get("choices", ())]
                    if any(words) and not first_s:
                        first_s = time.monotonic() - began_s
                    pieces += words
        return Turn("".join(pieces), first_s, usage, headers["x-heterodyne-replica"])


@asynccontextmanager
async def kv_fleet(
    urls: tuple[str, str],
    *,
    engine: str,
    kv_transfer: str,
    stores: dict[str, KvStoreSettings] | None = None,
    engine_model: str | None = None,
    tenants: TenantSnapshot | None = None,
) -> AsyncIterator[KvFleet]:
    """Ready when both engines are."""
    pool = PoolSettings(
        model=MODEL,
        engine=engine,  # type: ignore[arg-type]
        urls=urls,
        kv_transfer=kv_transfer,  # type: ignore[arg-type]
        kv_store=next(iter(stores), None) if stores else None,
        engine_model=engine_model,
        version="1",
    )
    settings = Settings(
        gateway=GatewaySettings(port=0),
        telemetry=TelemetrySettings(records="off", log_level="info"),
        kv_stores=stores or {},
        models={MODEL: ModelSettings(kv="auto")},
        pools={"pool": pool},
    )
    replicas, rules = remote_replicas(settings), model_rules(settings)
    async with running_gateway(settings, replicas, rules=rules, tenants=tenants) as gateway:
        planner = Planner(gateway._upstream.router)
        planner.takes_s = 12.0  # nothing here is about how soon it gives up, but before the lease of a hand-over ends
        gateway._upstream.router.decide = planner.decide  # type: ignore[method-assign]
        await wait(lambda: gateway.takeable() == len(urls))
        yield KvFleet(gateway, planner)


async def wait(is_so: Callable[[], bool], timeout_s: float = 60.0) -> None:
    """Until something is so."""
    async with asyncio.timeout(timeout_s):
        while not is_so():
            await asyncio.sleep(0.05)
