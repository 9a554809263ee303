"""A gateway in the test's own loop, over scripted engines."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.assembly.gateway import running_gateway
from heterodyne.caching.settings import CacheSettings
from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import Health
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.emulator.server import EmulatorServer
from heterodyne.endpoint_picker.settings import EndpointPickerSettings
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.server import ServerSnapshot
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.identity.settings import IssuerSettings
from heterodyne.ports.leases import LeaseSource
from heterodyne.routing.cascade.settings import CascadeSettings
from heterodyne.routing.settings import RoutingSettings
from heterodyne.safety.settings import GuardSettings
from heterodyne.stores.settings import StoreSettings
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.supervisor.workers.live_gateway import LiveGateway
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.testing.scripted_engine import Behaviour, ScriptedEngine
from tests.support import requests
from tests.support.raw_client import ask

READY_TIMEOUT_S = 30.0
SOON_S = 30.0  # on a busy machine


class Rig:
    """A running gateway, the engines behind it, and what it wrote down."""

    def __init__(self, gateway: LiveGateway, engines: tuple[ScriptedEngine, ...], records: Path | None) -> None:
        self.gateway = gateway
        self.server = server = gateway.server
        self.engines = engines
        if engines:
            self.engine = engines[0]
        self.port = server.port
        self._records = records

    def holds(self) -> ServerSnapshot:
        return self.server.snapshot()

    async def wait_empty(self, timeout_s: float = SOON_S) -> None:
        """Wait until the gateway holds no request, and nothing for one; soon, or something leaks."""
        try:
            async with asyncio.timeout(timeout_s):
                while not _is_empty(self.holds()):
                    await asyncio.sleep(0.005)
        except TimeoutError:
            held = self.holds()
            raise AssertionError(f"still held: {held.held.left}, {held.body_bytes} bytes of bodies") from None

    async def wait(self, is_so: Callable[[], bool], timeout_s: float = SOON_S) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(timeout_s):
            while not is_so():
                await asyncio.sleep(0.005)

    async def wait_cancelled(self, timeout_s: float = SOON_S) -> None:
        """Wait until the engine knows that nobody wants its last answer any more."""
        async with asyncio.timeout(timeout_s):
            while not self.engine.calls[-1].was_cancelled:
                await asyncio.sleep(0.005)

    async def wait_records(self, count: int) -> list[RequestRecord]:
        """What was written down, once it is at least so much."""
        async with asyncio.timeout(30):
            while len(records := self.records()) < count:
                await asyncio.sleep(0.02)
        return records

    def records(self) -> list[RequestRecord]:
        assert self._records is not None
        if not self._records.exists():
            return []
        return [msgspec.json.decode(line, type=RequestRecord) for line in self._records.read_bytes().splitlines()]


@asynccontextmanager
async def gateway_over(
    *engines: ScriptedEngine | Behaviour,
    gateway: dict[str, Any] | None = None,
    admission: dict[str, Any] | None = None,
    pool: dict[str, Any] | None = None,
    routing: dict[str, Any] | None = None,
    model: dict[str, Any] | None = None,
    stores: dict[str, Any] | None = None,
    guards: dict[str, GuardSettings] | None = None,
    caches: dict[str, CacheSettings] | None = None,
    cascades: dict[str, CascadeSettings] | None = None,
    kv_stores: dict[str, KvStoreSettings] | None = None,
    issuers: dict[str, IssuerSettings] | None = None,
    picker: dict[str, Any] | None = None,
    beside: dict[str, ScriptedEngine | Behaviour] | None = None,
    rivals: dict[str, tuple[ScriptedEngine | EmulatorServer | Behaviour, dict[str, Any]]] | None = None,
    tenants: TenantSnapshot | None = None,
    leases: LeaseSource | None = None,
    records: Path | None = None,
    waits_ready: bool = True,
    wall_clock: Callable[[], float] = time.time,
) -> AsyncIterator[Rig]:
    """A gateway over one pool of these engines, ready when the block begins; `beside` it, other models by name.

    `rivals` are other pools of the same model, by name, each with its settings.
    """
    opened = tuple(map(_engine, engines))
    others = {name: _engine(one, model=name) for name, one in (beside or {}).items()}
    same = {name: (_engine(one), more) for name, (one, more) in (rivals or {}).items()}
    engines_all = (*opened, *others.values(), *(engine for engine, _ in same.values()))
    for engine in engines_all:
        if not engine.port:
            await engine.open()
    settings = Settings(
        gateway=GatewaySettings(**{"port": 0, **(gateway or {})}),
        admission=AdmissionSettings(**(admission or {})),
        routing=RoutingSettings(**(routing or {})),
        stores=StoreSettings(**(stores or {})),
        models={(pool or {}).get("model", requests.MODEL): ModelSettings(**model)} if model else {},
        guards=guards or {},
        caches=caches or {},
        cascades=cascades or {},
        kv_stores=kv_stores or {},
        issuers=issuers or {},
        endpoint_picker=EndpointPickerSettings(**{"listens": picker is not None, "port": 0, **(picker or {})}),
        telemetry=TelemetrySettings(records=str(records) if records else "off", log_level="error"),
        pools={
            "pool": PoolSettings(
                **{"model": requests.MODEL, "urls": tuple(engine.url for engine in opened), **(pool or {})}
            ),
            **{name: PoolSettings(model=name, urls=(engine.url,)) for name, engine in others.items()},
            **{
                name: PoolSettings(**{"model": requests.MODEL, "urls": (engine.url,), **more})
                for name, (engine, more) in same.items()
            },
        },
    )
    rules = model_rules(settings)
    try:
        async with running_gateway(
            settings,
            remote_replicas(settings),
            rules=rules,
            tenants=tenants,
            leases=leases,
            wall_clock=wall_clock,
        ) as running:
            if waits_ready:
                await _wait_ready(running)
            rig = Rig(running, opened, records)
            yield rig
        await rig.wait_empty()
    finally:
        for engine in engines_all:
            await engine.close()


def _engine(one: Any, model: str = requests.MODEL) -> Any:
    """A behaviour becomes an engine; what is one stays."""
    return ScriptedEngine(one, model=model) if callable(one) else one


async def _wait_ready(gateway: LiveGateway) -> None:
    """A model is ready as soon as one of its replicas is; a test of several wants to know of each."""
    async with asyncio.timeout(READY_TIMEOUT_S):
        while set((await ask(gateway.server.port, requests.get("/health/ready"))).json["models"].values()) != {"ready"}:
            await asyncio.sleep(0.005)
        while not _knows_each(gateway):
            await asyncio.sleep(0.005)


def _knows_each(gateway: LiveGateway) -> bool:
    """Whether each replica was looked at, and those that are ready were told to the router."""
    health = [one.health for one in gateway.view("").fleet.replicas]
    return Health.STARTING not in health and gateway.takeable() >= health.count(Health.READY)


def _is_empty(held: ServerSnapshot) -> bool:
    return not (held.held.left or held.body_bytes or held.large_bodies)
