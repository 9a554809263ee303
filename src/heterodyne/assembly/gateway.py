"""Builds one worker's gateway out of its parts; tests build theirs here too."""

import asyncio
import os
import random
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.admission.limits.book import LimitBook
from heterodyne.admission.limits.when_unreachable import WhenUnreachable
from heterodyne.admission.tokens import TokenEstimator
from heterodyne.assembly.documents import stored_room
from heterodyne.assembly.fleet_reports import machine_name, try_report_loop
from heterodyne.assembly.kv_folders import slot_files
from heterodyne.assembly.picking import picking
from heterodyne.assembly.request_path import RequestPath, batch_runner, live_gateway, open_request_path, request_handler
from heterodyne.assembly.traces import tracer_of, try_exporter
from heterodyne.config.settings import Settings
from heterodyne.control.adapter_loader import AdapterLoader
from heterodyne.control.fleet_watch import FleetWatch
from heterodyne.control.gossip_channel import GossipChannel
from heterodyne.control.kv_listener import KvListener
from heterodyne.control.shadow_caller import ShadowCaller
from heterodyne.domain.fleet import FleetSnapshot, ModelRule, Replica, ReplicaId
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.engines.catalogue import DIALECTS, ENGINES
from heterodyne.gateway.audit_recorder import AuditRecorder
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.kv.engine_asker import EngineAsker
from heterodyne.gateway.kv.transfers import KvTransfers
from heterodyne.gateway.kv.warm_up import KvWarmer
from heterodyne.gateway.lease_client import LeaseClient
from heterodyne.gateway.offload.process import Offload
from heterodyne.gateway.private_fields import PrivateFields
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.routing_request_builder import RoutingRequestBuilder
from heterodyne.gateway.tracer import Tracer
from heterodyne.gateway.upstream import Upstream
from heterodyne.gateway.usage_recorder import UsageRecorder
from heterodyne.ports.leases import LeaseSource
from heterodyne.routing.fallback import FallbackRouter
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.router import Router
from heterodyne.stores.leases.memory import MemoryLeases
from heterodyne.supervisor.fleet.setting_path import setting_path
from heterodyne.supervisor.workers.live_gateway import LiveGateway
from heterodyne.supervisor.workers.replica_priors import ReplicaPriors
from heterodyne.telemetry import exposition, metrics
from heterodyne.telemetry.loops import end, keep_running, run_periodically
from heterodyne.telemetry.records import RecordWriter
from heterodyne.telemetry.tracing.otlp import OtlpExporter
from heterodyne.wire.connection_pool import ConnectionPool

METERS_INTERVAL_S = 1.0
ARMS_SUFFIX = ".arms.sock"  # where workers tell each other which version a conversation has
ROOM_BITS = 63  # of the number by which a pair of replicas finds each other
OFFLOAD_MODULE = "heterodyne.supervisor.workers.offload_process"

clock = time.monotonic
chance = random.Random().random  # noqa: S311 - spreads probes and requests, keeps no secret


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
    version: int = 0,
    wall_clock: Callable[[], float] = time.time,
) -> AsyncIterator[LiveGateway]:
    """A gateway that listens inside the block; for a graceful end call `drain` first.

    Without `leases` its limits are its own. `wall_clock` may be set at any time, as that of a machine may.
    """
    exporter, records = try_exporter(settings.telemetry, name), RecordWriter(settings.telemetry)
    workers = 1 if run_dir is None else settings.gateway.workers
    lease_client = _lease_client(settings, leases or MemoryLeases(clock=wall_clock), name, wall_clock, workers=workers)
    snapshot, priors = FleetSnapshot.of(0, replicas, rules), ReplicaPriors(settings)
    router = _router(settings, snapshot, priors, workers=workers)
    adapters = AdapterLoader(ENGINES, _pool(settings, idle_max=0), clock=clock)
    tracer = None if exporter is None else tracer_of(settings, exporter)
    request_log = _request_log(settings, records, usage_recorder, audit_recorder, tracer=tracer, wall_clock=wall_clock)
    upstream = _upstream(settings, snapshot, router, adapters, request_log, tracer=tracer, wall_clock=wall_clock)
    listener = KvListener(router, clock=clock, chance=chance)
    watch = _watch(priors, upstream, adapters, listener)
    stored = stored_room(settings, lambda: priors.settings, wall_clock)
    path = open_request_path(
        settings, upstream, request_log, lease_client, stored, tracer=tracer, wall_clock=wall_clock, chance=chance
    )
    tenants = tenants or TenantSnapshot()
    handler = request_handler(settings, path, tenants, console_key_sha256, name=name, run_dir=run_dir)
    gateway = live_gateway(
        settings, path, handler, watch, priors, tenants=tenants, console_key_sha256=console_key_sha256, version=version
    )
    loops = {
        "clock": gateway.server.tick,
        "health checks": watch.run,
        "adapters": adapters.run,
        "kv events": listener.run,
        "hot prefixes": gateway.hot_prefixes.run,
        "leases": lease_client.run,
        "issuers": path.tokens.run,
        "copies": ShadowCaller(request_log.shadow.next, lambda: upstream.fleet.snapshot, request_log.arms.add_copy).run,
        **_shared_loops(settings, gateway, path, run_dir, name, workers=workers),
    }
    try:
        await path.tokens.refresh()  # a first request with a token is not to find us without keys
        async with _running(gateway, loops, reuse_port=reuse_port), picking(gateway, path, lease_client, handler):
            yield gateway
    finally:
        await lease_client.close()
        await path.answer_cache.close()
        await _close(records, exporter)


async def _close(records: RecordWriter, exporter: OtlpExporter | None) -> None:
    records.close()
    if exporter is not None:
        await asyncio.to_thread(exporter.close)


def _shared_loops(
    settings: Settings, gateway: LiveGateway, path: RequestPath, run_dir: Path | None, name: str, *, workers: int
) -> dict[str, Callable[[], Awaitable[object]]]:
    """What a worker tells the others, the work that it shares with them, and what replicas share."""
    reports = try_report_loop(settings, path, name=name, run_dir=run_dir, workers=workers)
    loops: dict[str, Callable[[], Awaitable[object]]] = {"kv exchanges": path.upstream.kv.run}
    if reports is not None:
        loops["fleet reports"] = reports.run
    if run_dir is None:
        return loops
    router, arms = path.upstream.router, path.builder.arms
    loops["meters"] = partial(_write_meters, gateway.note_gauges, run_dir, name)
    loops["batches"] = batch_runner(gateway, path, run_dir).run
    if workers > 1:
        take = router.take_gossip if reports is None else reports.outbox.take_near
        loops["hearsay"] = GossipChannel(run_dir, name, take, router.receive_gossip).run
        loops["arms"] = GossipChannel(run_dir, name, arms.take, arms.hear, suffix=ARMS_SUFFIX).run
    return loops


@asynccontextmanager
async def _running(
    gateway: LiveGateway, loops: dict[str, Callable[[], Awaitable[object]]], *, reuse_port: bool
) -> AsyncIterator[None]:
    try:
        await gateway.server.open(reuse_port=reuse_port)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(keep_running(of, run)) for of, run in loops.items()]
            yield
            await end(tasks)
    finally:
        await gateway.server.close()


def _request_log(
    settings: Settings,
    records: RecordWriter,
    usage_recorder: UsageRecorder | None,
    audit_recorder: AuditRecorder | None,
    *,
    tracer: Tracer | None,
    wall_clock: Callable[[], float],
) -> RequestLog:
    return RequestLog(
        records,
        RoutingRequestBuilder(TokenEstimator()),
        decisions_kept=settings.gateway.decisions_kept,
        usage_recorder=usage_recorder,
        audit_recorder=audit_recorder,
        tracer=tracer,
        clock=clock,
        wall_clock=wall_clock,
    )


def _router(settings: Settings, snapshot: FleetSnapshot, priors: ReplicaPriors, *, workers: int) -> Router:
    return Router(
        snapshot,
        prior_of=priors.prior_of,
        chance=chance,
        now_s=clock(),
        has_others=workers > 1 or settings.stores.fleet_url is not None,
        machine=machine_name(),
        kv_stores=settings.kv_stores,
    )


def _upstream(
    settings: Settings,
    snapshot: FleetSnapshot,
    router: Router,
    adapters: AdapterLoader,
    request_log: RequestLog,
    *,
    tracer: Tracer | None,
    wall_clock: Callable[[], float],
) -> Upstream:
    fleet = FleetView(DIALECTS, snapshot)
    health = FleetHealth(settings.routing, snapshot, clock())
    limit = ConcurrencyLimit(settings.admission.in_flight_max, settings.admission.retry_after_s)
    selector = FallbackRouter(
        snapshot,
        health,
        router,
        fields=PrivateFields(fleet),
        nearness=adapters.nearness,
        chance=chance,
    )
    return Upstream(
        fleet=fleet,
        selector=selector,
        router=router,
        limit=limit,
        pool=_pool(settings, idle_max=settings.gateway.engine_connections_idle_max),
        adapters=adapters,
        offload=Offload(OFFLOAD_MODULE, clock),
        place=request_log.place if request_log.has_books else None,
        hop=None if tracer is None else tracer.hop,
        answer_bytes_max=settings.gateway.answer_bytes_max,
        clock=clock,
        kv=KvTransfers(
            fleet,
            EngineAsker(_pool(settings, idle_max=0)),
            limit=limit,
            health=lambda: selector.health,
            files=slot_files(settings, wall_clock),
            pinned=router.fabric.pinned,
            on_held=router.on_warmed_up,
            clock=clock,
            room=lambda: secrets.randbits(ROOM_BITS),
        ),
    )


def _watch(priors: ReplicaPriors, upstream: Upstream, adapters: AdapterLoader, listener: KvListener) -> FleetWatch:
    settings = priors.settings
    selector, router = upstream.selector, upstream.router

    def publish(snapshot: FleetSnapshot) -> None:
        now_s = clock()
        upstream.fleet.publish(snapshot)
        selector.publish(snapshot)
        selector.health.publish(snapshot, now_s)
        router.publish(snapshot, now_s)
        adapters.publish(snapshot)
        upstream.kv.publish(snapshot)
        upstream.prompts.keep_only(upstream.fleet.warmed_models, now_s)
        listener.publish(snapshot)

    def on_probe(replica: ReplicaId, now_s: float) -> None:
        selector.health.on_probe(replica, now_s)  # of the rules that hold then

    def on_failed_probe(replica: ReplicaId) -> None:
        selector.health.on_failed_probe(replica)

    def forget_memory(replica: ReplicaId) -> None:
        """An engine that has started again holds neither adapters nor prompts nor slots."""
        adapters.forget(replica)
        upstream.kv.forget(replica)
        router.on_memory_lost(replica, clock())

    publish(upstream.fleet.snapshot)
    return FleetWatch(
        ENGINES,
        _pool(settings, idle_max=1),
        upstream.fleet.snapshot,
        publish,
        clock=clock,
        chance=chance,
        place=lambda replica: setting_path(priors.settings, replica),  # as they are then
        workers=settings.gateway.workers,
        on_probe=on_probe,
        on_failed_probe=on_failed_probe,
        on_restart=forget_memory,
        answers_of=lambda replica: selector.health.of(replica).answers,
        warm_up_kv=KvWarmer(upstream.fleet, upstream.prompts, router, upstream.kv, clock=clock).warm_up,
    )


def _pool(settings: Settings, *, idle_max: int) -> ConnectionPool:
    loop = asyncio.get_running_loop()
    return ConnectionPool(loop, idle_max=idle_max, connect_timeout_s=settings.gateway.connect_timeout_s)


def _lease_client(
    settings: Settings, leases: LeaseSource, name: str, wall_clock: Callable[[], float], *, workers: int
) -> LeaseClient:
    """Of a worker whose limits are shared with so many, until it hears of others."""
    book = LimitBook(f"{name}-{os.urandom(6).hex()}", holders=workers)
    when_unreachable = WhenUnreachable(settings.admission.limits_when_unreachable)
    return LeaseClient(book, leases, when_unreachable=when_unreachable, clock=wall_clock)


async def _write_meters(note_gauges: Callable[[], None], run_dir: Path, name: str) -> None:
    async def write() -> None:
        note_gauges()
        await asyncio.to_thread(exposition.write_samples, run_dir, name, exposition.own_samples(metrics.ALL))

    await run_periodically("meters", write, METERS_INTERVAL_S)
