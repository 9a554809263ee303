"""A whole gateway listens to an emulated engine, and shows what it has heard and believes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from heterodyne.assembly.gateway import running_gateway
from heterodyne.config.settings import Settings
from heterodyne.emulator.server import EmulatorServer
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.telemetry.settings import TelemetrySettings
from tests.support.emulators import order
from tests.support.kv_publishers import ANYWHERE
from tests.support.raw_client import ask
from tests.support.requests import chat, get
from tests.support.surfaces import MODEL, Scrape, call

TEXT = "a long story about a gateway " * 100


@asynccontextmanager
async def gateway(*servers: EmulatorServer, pool: str) -> AsyncIterator[int]:
    settings = Settings(
        gateway=GatewaySettings(port=0),
        telemetry=TelemetrySettings(records="off", log_level="error"),
        pools={
            pool: PoolSettings(
                model=MODEL,
                engine=servers[0].order.layout.engine.value,
                urls=tuple(server.url for server in servers),
                kv_events=tuple(server.kv_events.endpoint for server in servers),
                kv_events_replay=tuple(server.kv_events.replay_endpoint or "" for server in servers),
            )
        },
    )
    async with running_gateway(settings, remote_replicas(settings), rules=model_rules(settings)) as running:
        port = running.server.port
        await until(lambda: is_ready(port))
        yield port


async def until(is_so: Callable[[], Coroutine[Any, Any, bool]]) -> None:
    async with asyncio.timeout(30):
        while not await is_so():
            await asyncio.sleep(0.02)


async def is_ready(port: int) -> bool:
    return (await ask(port, get("/health/ready"))).status == 200


async def metrics_of(port: int) -> Scrape:
    return Scrape((await ask(port, get("/metrics"))).body)


@pytest.mark.parametrize("engine", [EngineKind.VLLM, EngineKind.SGLANG])
async def test_a_reset_engine_is_cold_to_the_gateway_too(engine: EngineKind) -> None:
    said = order(engine, kv_events=ANYWHERE, kv_events_replay=ANYWHERE)
    pool = f"kv-{engine.value}"  # metrics are the process's
    async with EmulatorServer(said) as one, EmulatorServer(said) as two, gateway(one, two, pool=pool) as port:
        replicas = {f"{pool}-0": one, f"{pool}-1": two}

        async def is_listening() -> bool:
            # What is published before the subscription has arrived is lost, and shows with the next message only.
            for server in replicas.values():
                server.engine.reset_cache()
            scrape = await metrics_of(port)
            return all(kind_count(scrape, name, "cleared") > 0 for name in replicas)

        await until(is_listening)
        await asyncio.sleep(0.05)
        turn = chat(model=MODEL, messages=[{"role": "user", "content": TEXT}], stream=True, max_tokens=4)
        first = await ask(port, turn)
        assert first.status == 200
        chosen = first.headers["x-heterodyne-replica"]

        async def has_heard_of_blocks() -> bool:
            return kind_count(await metrics_of(port), chosen, "stored") > 0

        await until(has_heard_of_blocks)
        scrape = await metrics_of(port)
        assert scrape.value("heterodyne_routing_prefix_entries") > 0
        assert 0 < scrape.value("heterodyne_routing_prefix_trust", pool=pool, replica=chosen) <= 1
        assert scrape.value("heterodyne_routing_prediction_error_ratio", pool=pool, what="ttft") >= 0
        decided = [one for one in scrape.families["heterodyne_routing_decisions"].samples if one.labels["pool"] == pool]
        assert sum(one.value for one in decided) == 1

        cleared = kind_count(scrape, chosen, "cleared")
        await call(replicas[chosen], "/reset_prefix_cache" if engine is EngineKind.VLLM else "/flush_cache")

        async def is_forgotten() -> bool:
            return (await metrics_of(port)).value("heterodyne_routing_prefix_entries") == 0

        await until(is_forgotten)
        assert kind_count(await metrics_of(port), chosen, "cleared") == cleared + 1


def kind_count(scrape: Scrape, replica: str, kind: str) -> float:
    found = [
        one.value
        for one in scrape.families["heterodyne_routing_kv_events"].samples
        if one.name.endswith("_total") and (one.labels["replica"], one.labels["kind"]) == (replica, kind)
    ]
    return sum(found)
