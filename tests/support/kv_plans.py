"""A gateway over two emulated vLLMs, whose choices are given a plan for KV as a test wants it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.emulator.server import EmulatorServer
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import KvPlan, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from tests.support.emulators import order
from tests.support.gateways import Rig, gateway_over

MODEL = "llama-3.1-8b"
PREFILL, DECODE = ReplicaId("pool-0"), ReplicaId("pool-1")
TAKES_S = 0.25  # what plans say, so that nobody waits for more than a second


class Planner:
    """Chooses as the router does, but for the replica and the plan."""

    def __init__(self, router: Router) -> None:
        self._decide = router.decide
        self._router = router
        self.target: ReplicaId | None = DECODE  # None: as the router has it
        self.origin: KvOrigin | None = KvOrigin.PREFILL
        self.source: ReplicaId | None = PREFILL
        self.takes_s = TAKES_S

    def decide(self, request: RoutingRequest, usable: Sequence[Replica], now_s: float) -> RoutingChoice:
        wanted = [one for one in usable if one.id == self.target] or usable
        choice = self._decide(request, wanted, now_s)
        plan = None
        if self.origin is not None and choice.target.id == self.target:
            source = None if self.source is None else self._router.forecast(request, self.source, now_s)
            plan = KvPlan(
                self.origin,
                choice.forecast,
                queued_s=0.0,
                tokens=request.prompt_tokens,
                byte_count=1e6,
                takes_s=self.takes_s,
                saved_s=0.1,
                saved_usd=0.0,
                source=None if source is None else source.state,
                prefill=source if self.origin is KvOrigin.PREFILL else None,
            )
        others = choice.others
        return RoutingChoice(choice.forecast, choice.slo_outlook, choice.reason, others, kv_plan=plan)


class KvRig:
    """The gateway and both engines."""

    def __init__(self, rig: Rig, prefill: EmulatorServer, decode: EmulatorServer, planner: Planner) -> None:
        self.rig, self.prefill, self.decode, self.planner = rig, prefill, decode, planner
        self.is_prefill_dead = False
        self.tasks: list[asyncio.Task[None]] = []  # of faults that wait for their moment
        self.upstream = rig.gateway._upstream  # nobody else has the exchanges

    async def kill_prefill(self) -> None:
        """At once; what it held is gone with it."""
        self.is_prefill_dead = True
        await self.prefill.close()

    async def wait_idle(self) -> None:
        """Soon, or something leaks."""
        await self.rig.wait(lambda: self.is_idle)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is held anywhere."""
        engines = (self.decode.engine,) if self.is_prefill_dead else (self.prefill.engine, self.decode.engine)
        return not (
            self.upstream.kv.running
            or self.upstream.limit.by_replica
            or any(engine.kv.pinned or engine.machine.blocks.used for engine in engines)
        )


def put_before(router: Router, planner: Planner) -> None:
    """From now on the planner is asked."""
    try:
        router.decide = planner.decide  # type: ignore[method-assign]
    except AttributeError:
        pytest.skip("methods of a compiled router cannot be replaced; `make test` runs this as Python")


@asynccontextmanager
async def kv_gateway(
    *,
    records: Path | None = None,
    slots: Path | None = None,
    gateway: dict[str, Any] | None = None,
    pool: dict[str, Any] | None = None,
    tenants: TenantSnapshot | None = None,
    **changes: object,
) -> AsyncIterator[KvRig]:
    """Both engines are well until a test says otherwise; with a folder for slots they are llama.cpp's."""
    if slots is not None:
        changes = {"engine": EngineKind.LLAMACPP, "slot_folder": str(slots), **changes}
    async with AsyncExitStack() as stack:
        prefill = await stack.enter_async_context(EmulatorServer(order(**changes)))  # type: ignore[arg-type]
        decode = await stack.enter_async_context(EmulatorServer(order(**changes)))  # type: ignore[arg-type]
        more, pool = pool or {}, {"model": MODEL, "urls": (prefill.url, decode.url), "version": "1"}
        pool |= {"engine": "vllm", "kv_transfer": "nixl"}
        stores = {}
        if slots is not None:
            pool |= {"engine": "llamacpp", "kv_transfer": "slots", "kv_store": "disk"}
            stores = {"disk": KvStoreSettings(medium="disk", capacity_gb=1.0, path=str(slots))}
        rig = await stack.enter_async_context(
            gateway_over(pool=pool | more, gateway=gateway, records=records, kv_stores=stores, tenants=tenants)
        )
        await rig.wait(lambda: rig.gateway.takeable() == 2)
        router = rig.gateway._upstream.router  # as above
        planner = Planner(router)
        put_before(router, planner)
        kv_rig = KvRig(rig, prefill, decode, planner)
        if slots is not None:
            await rig.wait(lambda: all(kv_rig.upstream.kv.book(one) is not None for one in (PREFILL, DECODE)))
        yield kv_rig
        await asyncio.gather(*kv_rig.tasks)
