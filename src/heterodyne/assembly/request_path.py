"""Builds what requests pass in one worker: admission, the exchanges behind it, the handler and the server before it."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from heterodyne.admission.controller import AdmissionController
from heterodyne.assembly.answer_store import try_shared_answers, try_shared_prompts
from heterodyne.config.settings import Settings
from heterodyne.control.fleet_watch import FleetWatch
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway.admission_gate import AdmissionGate
from heterodyne.gateway.batches.runner import BatchRunner
from heterodyne.gateway.caching.answer_cache import AnswerCache
from heterodyne.gateway.cascades.cascade_gate import CascadeGate
from heterodyne.gateway.explainer import Explainer
from heterodyne.gateway.gauges import Gauges
from heterodyne.gateway.guards.failing import count_from_nothing
from heterodyne.gateway.guards.remote.asking import RemoteAsking
from heterodyne.gateway.guards.remote.remote_guards import RemoteGuards
from heterodyne.gateway.holdings import HoldingsWatch
from heterodyne.gateway.lease_client import LeaseClient
from heterodyne.gateway.ready_answer import ReadyAnswers
from heterodyne.gateway.render import IdentityHeaders
from heterodyne.gateway.request_handler import RequestHandler
from heterodyne.gateway.request_ids import RequestIds
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.routing_request_builder import RoutingRequestBuilder
from heterodyne.gateway.server import GatewayServer
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.gateway.tracer import Tracer
from heterodyne.gateway.upstream import Upstream
from heterodyne.identity.token_issuers import TokenIssuers
from heterodyne.supervisor.workers.live_gateway import LiveGateway, caller_ring, host_names
from heterodyne.supervisor.workers.replica_priors import ReplicaPriors
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.server_connection import ServerLedger


class RequestPath(NamedTuple):
    """What requests pass between the handler and the replicas."""

    upstream: Upstream
    request_log: RequestLog
    builder: RoutingRequestBuilder
    tracer: Tracer | None
    identity: IdentityHeaders
    controller: AdmissionController
    gate: AdmissionGate
    ledger: ServerLedger
    holdings: HoldingsWatch
    stored: StoredRoom
    answer_cache: AnswerCache
    cascades: CascadeGate
    tokens: TokenIssuers


def open_request_path(
    settings: Settings,
    upstream: Upstream,
    request_log: RequestLog,
    lease_client: LeaseClient,
    stored: StoredRoom,
    *,
    tracer: Tracer | None,
    wall_clock: Callable[[], float],
    chance: Callable[[], float],
) -> RequestPath:
    """Wire what decides and what sends."""
    count_from_nothing()
    book, builder, identity = lease_client.book, request_log.request_builder, IdentityHeaders(wall_clock)
    controller = AdmissionController(
        upstream.selector, upstream.router, upstream.limit, book, settings.admission, chance=chance
    )
    gate = AdmissionGate(
        controller=controller,
        lease_client=lease_client,
        upstream=upstream,
        request_log=request_log,
        request_builder=builder,
        tracer=tracer,
        identity=identity,
        keeper=stored.keeper,
        settings=settings.gateway,
    )
    holdings = HoldingsWatch(gate.in_flight, controller, upstream, request_log, book)
    ready = ReadyAnswers(gate, upstream, request_log, wall_clock)
    answer_cache = AnswerCache(gate, upstream, ready, wall_clock=wall_clock, chance=chance)
    answer_cache.shared_region = settings.stores.cache_region
    answer_cache.shared = try_shared_answers(settings, stored, upstream.clock)
    answer_cache.semantic.shared = try_shared_prompts(settings, stored, upstream.clock)
    return RequestPath(
        upstream=upstream,
        request_log=request_log,
        builder=builder,
        tracer=tracer,
        identity=identity,
        controller=controller,
        gate=gate,
        ledger=ServerLedger(),
        holdings=holdings,
        stored=stored,
        answer_cache=answer_cache,
        cascades=CascadeGate(upstream, builder, ready, tracer, chance),
        tokens=_token_issuers(settings, upstream),
    )


def _token_issuers(settings: Settings, upstream: Upstream) -> TokenIssuers:
    loop = asyncio.get_running_loop()
    pool = ConnectionPool(loop, idle_max=0, connect_timeout_s=settings.gateway.connect_timeout_s)
    issuers = TokenIssuers(pool, upstream.clock)
    issuers.configure(settings.issuers)
    return issuers


def request_handler(
    settings: Settings,
    path: RequestPath,
    tenants: TenantSnapshot,
    console_key_sha256: str,
    *,
    name: str,
    run_dir: Path | None,
) -> RequestHandler:
    """What answers every request of the worker."""
    upstream, gate, request_log = path.upstream, path.gate, path.request_log
    return RequestHandler(
        settings=settings.gateway,
        callers=caller_ring(settings, tenants, path.tokens, console_key_sha256),
        host_names=host_names(settings, tenants),
        fleet=upstream.fleet,
        limit=upstream.limit,
        gate=gate,
        request_builder=path.builder,
        request_log=request_log,
        tracer=path.tracer,
        offload=upstream.offload,
        stored=path.stored,
        remote_guards=_remote_guards(settings, upstream),
        identity=path.identity,
        ids=RequestIds(os.urandom(6).hex()),
        note_gauges=Gauges(path.ledger, upstream, gate, path.holdings, request_log).note,
        clock=path.upstream.clock,
        started_at=int(time.time()),
        worker_name=name,
        run_dir=run_dir,
    )


def _remote_guards(settings: Settings, upstream: Upstream) -> RemoteGuards:
    pool = ConnectionPool(asyncio.get_running_loop(), connect_timeout_s=settings.gateway.connect_timeout_s)
    return RemoteGuards(RemoteAsking(pool), upstream.offload)


def live_gateway(
    settings: Settings,
    path: RequestPath,
    handler: RequestHandler,
    watch: FleetWatch,
    priors: ReplicaPriors,
    *,
    tenants: TenantSnapshot,
    console_key_sha256: str,
    version: int,
) -> LiveGateway:
    """The whole of it, as the worker's orders change it."""
    upstream, in_flight, request_log = path.upstream, path.gate.in_flight, path.request_log
    server = GatewayServer(
        settings.gateway,
        request_handler=handler,
        gate=path.gate,
        controller=path.controller,
        in_flight=in_flight,
        upstream=upstream,
        request_log=request_log,
        ledger=path.ledger,
        holdings=path.holdings,
    )
    explainer = Explainer(
        upstream=upstream,
        in_flight=in_flight,
        request_log=request_log,
        request_builder=path.builder,
        request_handler=handler,
        worker=handler.worker_name,
    )
    return LiveGateway(
        settings,
        tenants=tenants,
        server=server,
        request_handler=handler,
        controller=path.controller,
        upstream=upstream,
        request_log=request_log,
        watch=watch,
        priors=priors,
        explainer=explainer,
        answer_cache=path.answer_cache,
        cascades=path.cascades,
        tokens=path.tokens,
        console_key_sha256=console_key_sha256,
        version=version,
    )


def batch_runner(gateway: LiveGateway, path: RequestPath, run_dir: Path) -> BatchRunner:
    """The worker's share of batches; lines of them take the way of every request."""
    queues, limit = path.controller.queues, path.upstream.limit
    return BatchRunner(
        run_dir,
        gateway.server.ask,
        waiting=lambda project: sum(queue.tenant_depth(project, Urgency.BATCH) for _, queue in queues),
        is_draining=lambda: limit.is_draining,
        longest_s=gateway.settings.gateway.deadline_max_s,
        clock=path.upstream.clock,
    )
