"""Builds one worker's gateway out of its parts; tests build theirs here too."""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.admission.limits.book import LimitBook
from heterodyne.admission.limits.when_unreachable import WhenUnreachable
from heterodyne.admission.tokens import TokenEstimator
from heterodyne.assembly.traces import tracer_of, try_exporter
from heterodyne.config.settings import Settings
from heterodyne.control.adapter_loader import AdapterLoader
from heterodyne.control.fleet_watch import FleetWatch
from heterodyne.control.gossip_channel import GossipChannel
from heterodyne.control.kv_listener import KvListener
from heterodyne.domain.fleet import FleetSnapshot, ModelRule, Replica, ReplicaId
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.engines.catalogue import DIALECTS, ENGINES
from heterodyne.gateway.admission import AdmissionController
from heterodyne.gateway.audit_recorder import AuditRecorder
from heterodyne.gateway.backstage import Backstage
from heterodyne.gateway.decider import Decider
from heterodyne.gateway.explainer import Explainer
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.holdings import HoldingsWatch
from heterodyne.gateway.lease_client import LeaseClient
from heterodyne.gateway.offload.process import Offload
from heterodyne.gateway.request_handler import RequestHandler
from heterodyne.gateway.request_ids import RequestIds
from heterodyne.gateway.server import GatewayServer
from heterodyne.gateway.usage_recorder import UsageRecorder
from heterodyne.ports.leases import LeaseSource
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.router import Router
from heterodyne.stores.leases.memory import MemoryLeases
from heterodyne.supervisor.fleet.setting_path import setting_path
from heterodyne.supervisor.workers.live_gateway import LiveGateway, caller_ring, host_names
from heterodyne.supervisor.workers.replica_priors import ReplicaPriors
from heterodyne.telemetry import exposition, metrics
from heterodyne.telemetry.loops import keep_running, run_periodically
from heterodyne.telemetry.records import RecordWriter
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.server_connection import ServerLedger

METERS_INTERVAL_S = 1.0
OFFLOAD_MODULE = "heterodyne.supervisor.workers.offload_process"


@asynccontextmanager
async def running_gateway(
    settings: Settings,
    replicas: tuple[Replica, ...],
    *,
    rules: dict[str, ModelRule] | None = None,
    tenants: TenantSnapshot | None = None,
    leases: LeaseSource | None = None,
    usage_recorder: UsageRecorder | None = None,
    audit_recorder: AuditRecorder | None = None,
    name: str = "worker",
    run_dir: Path | None = None,
    reuse_port: bool = False,
    console_key_sha256: str = "",
    wall_clock: Callable[[], float] = time.time,
) -> AsyncIterator[LiveGateway]:
    """A gateway that listens inside the block; whoever wants a graceful end calls `drain` first.

    Without `leases` its limits are its own, as those of an only worker may be. `wall_clock` may be set by anybody at
    any time, as that of a machine may.
    """
    loop = asyncio.get_running_loop()
    tenants = tenants or TenantSnapshot()
    fleet = FleetView(DIALECTS, FleetSnapshot.of(0, replicas, rules))
    pool = ConnectionPool(
        loop,
        idle_max=settings.gateway.engine_connections_idle_max,
        connect_timeout_s=settings.gateway.connect_timeout_s,
    )
    adapter_loader = AdapterLoader(
        ENGINES,
        ConnectionPool(loop, idle_max=0, connect_timeout_s=settings.gateway.connect_timeout_s),
        clock=time.monotonic,
    )
    exporter = try_exporter(settings.telemetry, name)
    records = RecordWriter(settings.telemetry)
    chance = random.Random().random  # noqa: S311 - spreads probes and requests, keeps no secret
    priors = ReplicaPriors(settings)
    has_others = run_dir is not None and settings.gateway.workers > 1
    router = Router(
        fleet.snapshot, prior_of=priors.prior_of, chance=chance, now_s=time.monotonic(), has_others=has_others
    )
    fleet_health = FleetHealth(settings.routing, fleet.snapshot, time.monotonic())
    back = Backstage(
        settings=settings.gateway,
        callers=caller_ring(settings, tenants, console_key_sha256),
        fleet=fleet,
        decider=Decider(fleet, fleet_health, router, adapter_loader, clock=time.monotonic, chance=chance),
        router=router,
        concurrency_limit=ConcurrencyLimit(settings.admission.in_flight_max, settings.admission.retry_after_s),
        pool=pool,
        adapters=adapter_loader,
        records=records,
        offload=Offload(OFFLOAD_MODULE, time.monotonic),
        tokens=TokenEstimator(),
        usage_recorder=usage_recorder,
        audit_recorder=audit_recorder,
        tracer=None if exporter is None else tracer_of(settings, exporter),
        clock=time.monotonic,
        wall_clock=wall_clock,
    )
    ledger = ServerLedger()
    lease_client = _lease_client(
        settings,
        leases or MemoryLeases(clock=wall_clock),
        name,
        wall_clock,
        workers=1 if run_dir is None else settings.gateway.workers,
    )
    admission_controller = AdmissionController(back, lease_client, settings.admission, chance=chance)
    holdings = HoldingsWatch(back, admission_controller, lease_client.book)
    request_handler = RequestHandler(
        back=back,
        admission_controller=admission_controller,
        host_names=host_names(settings, tenants),
        ids=RequestIds(os.urandom(6).hex()),
        ledger=ledger,
        holdings=holdings,
        started_at=int(time.time()),
        worker_name=name,
        run_dir=run_dir,
    )
    server = GatewayServer(settings.gateway, request_handler, back, admission_controller, ledger, holdings=holdings)
    listener = KvListener(router, clock=time.monotonic, chance=chance)
    listener.publish(fleet.snapshot)

    def publish(snapshot: FleetSnapshot) -> None:
        back.publish(snapshot)
        listener.publish(snapshot)

    gateway: LiveGateway | None = None
    watch = FleetWatch(
        ENGINES,
        ConnectionPool(loop, idle_max=1, connect_timeout_s=settings.gateway.connect_timeout_s),
        fleet.snapshot,
        publish,
        clock=time.monotonic,
        chance=chance,
        place=lambda replica: setting_path(gateway.settings if gateway else settings, replica),
        workers=settings.gateway.workers,
        on_probe=back.on_probe,
        on_restart=lambda replica: _forget_memory(replica, adapter_loader, router),
        answers_of=lambda replica: back.fleet_health.of(replica).answers,
    )
    gateway = LiveGateway(
        settings,
        tenants=tenants,
        server=server,
        request_handler=request_handler,
        back=back,
        admission_controller=admission_controller,
        watch=watch,
        priors=priors,
        explainer=Explainer(back, name),
        console_key_sha256=console_key_sha256,
    )
    try:
        await server.open(reuse_port=reuse_port)
        async with asyncio.TaskGroup() as loops:
            lives: dict[str, Callable[[], Awaitable[object]]] = {
                "clock": server.tick,
                "health checks": watch.run,
                "adapters": adapter_loader.run,
                "kv events": listener.run,
                "leases": lease_client.run,
            }
            if run_dir is not None:
                lives["meters"] = partial(_write_meters, request_handler, run_dir, name)
                if has_others:
                    lives["hearsay"] = GossipChannel(run_dir, name, router.take_gossip, router.receive_gossip).run
            tasks = [loops.create_task(keep_running(of, run)) for of, run in lives.items()]
            yield gateway
            for task in tasks:
                task.cancel()
    finally:
        await server.close()
        await lease_client.close()
        records.close()
        if exporter is not None:
            await asyncio.to_thread(exporter.close)


def _lease_client(
    settings: Settings, leases: LeaseSource, name: str, wall_clock: Callable[[], float], *, workers: int
) -> LeaseClient:
    """Of a worker whose limits are shared with so many, until it hears of others."""
    book = LimitBook(f"{name}-{os.urandom(6).hex()}", holders=workers)
    when_unreachable = WhenUnreachable(settings.admission.limits_when_unreachable)
    return LeaseClient(book, leases, when_unreachable=when_unreachable, clock=wall_clock)


def _forget_memory(replica: ReplicaId, adapter_loader: AdapterLoader, router: Router) -> None:
    """An engine that has started again holds neither adapters nor prompts."""
    adapter_loader.forget(replica)
    router.on_memory_lost(replica, time.monotonic())


async def _write_meters(request_handler: RequestHandler, run_dir: Path, name: str) -> None:
    async def leave() -> None:
        request_handler.note_gauges()
        await asyncio.to_thread(exposition.write_samples, run_dir, name, exposition.own_samples(metrics.ALL))

    await run_periodically("meters", leave, METERS_INTERVAL_S)
