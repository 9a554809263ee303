"""A gateway that serves, and takes another fleet and most other settings while it does."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence

from heterodyne.admission.callers import CallerRing
from heterodyne.admission.certificates import CertificateRules
from heterodyne.admission.controller import AdmissionController
from heterodyne.admission.host_names import HostNames
from heterodyne.caching.policy import CachePolicy
from heterodyne.config.settings import Settings
from heterodyne.control.fleet_watch import FleetWatch
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.fleet import ModelRule, Replica
from heterodyne.domain.key_restriction import KeyRestriction
from heterodyne.domain.kv_seen import KvSeen
from heterodyne.domain.provider_limit import INPUT_TOKENS, OUTPUT_TOKENS, REQUESTS, TOKENS
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.gateway.abuse.restrictions import KeyRestrictions
from heterodyne.gateway.abuse.sign_recorder import SignRecorder
from heterodyne.gateway.abuse.sign_sender import SignSender
from heterodyne.gateway.caching.answer_cache import AnswerCache
from heterodyne.gateway.cascades.cascade_gate import CascadeGate
from heterodyne.gateway.cascades.load import read_cascades
from heterodyne.gateway.demand_tally import DemandSeen, DemandTally
from heterodyne.gateway.explainer import Explainer
from heterodyne.gateway.guards.hits import GuardHits
from heterodyne.gateway.guards.input_guard import InputGuard
from heterodyne.gateway.kv.hot_prefixes import HotPrefixes
from heterodyne.gateway.kv_report import kv_seen, looks_at_prompts
from heterodyne.gateway.kv_tally import KvTally
from heterodyne.gateway.request_handler import RequestHandler
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.server import GatewayServer
from heterodyne.gateway.upstream import Upstream
from heterodyne.identity.token_issuers import TokenIssuers
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.safety.abuse.policy import AbusePolicies
from heterodyne.safety.policy import GuardPolicy
from heterodyne.supervisor.workers.replica_priors import ReplicaPriors
from heterodyne.supervisor.workers.view import QUEUED_PROJECTS_MAX, WorkerView
from heterodyne.telemetry import log, metrics

_log = log.get("assembly")

# Sections that say what happens to texts on their way, and whose demand is followed.
POLICIES = ("guards", "abuse", "caches", "cascades", "gateway", "pools")


class LiveGateway:
    """One per worker."""

    def __init__(
        self,
        settings: Settings,
        *,
        tenants: TenantSnapshot,
        server: GatewayServer,
        request_handler: RequestHandler,
        controller: AdmissionController,
        upstream: Upstream,
        request_log: RequestLog,
        watch: FleetWatch,
        priors: ReplicaPriors,
        explainer: Explainer,
        answer_cache: AnswerCache,
        cascades: CascadeGate,
        tokens: TokenIssuers,
        console_key_sha256: str = "",
        version: int = 0,
    ) -> None:
        self.settings = settings
        self._console_key_sha256 = console_key_sha256
        self._tokens = tokens
        self.tenants = tenants
        self.server = server
        self.version = version  # of the fleet it works by
        self.endpoint_picker_port = 0  # where proxies ask for an endpoint; 0: nowhere
        self.explainer = explainer
        self.guard_hits = GuardHits(time.time)
        self.hot_prefixes = HotPrefixes(upstream.router, upstream.clock)
        self.note_gauges = request_handler.note_gauges
        self._request_handler = request_handler
        self._controller = controller
        self._upstream = upstream
        self._request_log = request_log
        self._watch = watch
        self._priors = priors
        self._take_rollouts(upstream.fleet.snapshot.rules)
        self._follow_kv(upstream.fleet.snapshot.replicas, upstream.fleet.snapshot.rules)
        self._answer_cache = answer_cache
        self._signs: SignSender | None = None  # None: nobody is told of requests whose use is watched
        self._drops: tuple[CacheDrop, ...] = ()
        self._cascades = cascades
        answer_cache.semantic.ask = cascades.ask = server.ask
        tokens.on_withdrawn = self._take_callers
        self._take_policies(settings)

    def apply(
        self,
        settings: Settings,
        replicas: tuple[Replica, ...],
        rules: dict[str, ModelRule],
        version: int,
        tenants: TenantSnapshot | None = None,
        *,
        restrictions: Sequence[KeyRestriction] = (),
    ) -> None:
        """Work by these from now on; requests under way end as they began. Without `tenants` they are as before."""
        before, self.settings, self.version = self.settings, settings, version
        self.tenants = tenants or self.tenants
        admission, upstream = settings.admission, self._upstream
        self._tokens.configure(settings.issuers)
        self._take_callers()
        self._request_handler.host_names = host_names(settings, self.tenants)
        if any(getattr(settings, name) != getattr(before, name) for name in POLICIES):
            self._take_policies(settings)
        self.restrict(restrictions)
        upstream.limit.resize(admission.in_flight_max, admission.retry_after_s)
        self.server.configure(settings.gateway)
        if settings.gateway.decisions_kept != before.gateway.decisions_kept:
            self._request_log.decisions.keep(settings.gateway.decisions_kept)
        if settings.routing != before.routing:
            # What was learned of replicas was learned under other rules; they are new to these.
            snapshot = upstream.fleet.snapshot
            upstream.selector.health = FleetHealth(settings.routing, snapshot, upstream.clock())
        self._priors.settings = settings
        if settings.kv_stores != before.kv_stores:
            upstream.router.fabric.take(settings.kv_stores)
        gone = {replica.id: replica for replica in upstream.fleet.snapshot.replicas}
        self._watch.update(replicas, rules)
        self._take_rollouts(rules)
        self._follow_kv(replicas, rules)
        for replica in replicas:
            gone.pop(replica.id, None)
        _forget_gauges(gone.values())
        self._controller.configure(admission)
        upstream.pool.forget({upstream.fleet.wire(replica.id).address for replica in replicas})

    def watch_abuse(self, signs: SignSender, restrictions: Sequence[KeyRestriction]) -> None:
        """Tell the supervisor of requests whose use is watched, and begin with what is held against keys."""
        self._signs = signs
        self._take_policies(self.settings)
        self.restrict(restrictions)

    def restrict(self, restrictions: Sequence[KeyRestriction]) -> None:
        """Hold these against keys, and nothing else."""
        handler, upstream = self._request_handler, self._upstream
        before, handler.restrictions = handler.restrictions, None
        if restrictions:
            handler.restrictions = KeyRestrictions(
                restrictions,
                workers=self.settings.gateway.workers,
                clock=upstream.clock,
                wall_clock=time.time,
                before=before,
            )

    def take_drops(self, drops: tuple[CacheDrop, ...]) -> None:
        """Give these kept answers no more; the same as before cost nothing."""
        if drops != self._drops:
            self._drops = drops
            self._answer_cache.take_drops(drops)

    def _take_callers(self) -> None:
        """Whose keys and tokens open from now on; who was let in before is looked at again."""
        self._request_handler.callers = caller_ring(self.settings, self.tenants, self._tokens, self._console_key_sha256)

    def _take_policies(self, settings: Settings) -> None:
        """What looks at texts and at their use, keeps answers, and lets cheap models try."""
        handler, guards, caches = self._request_handler, GuardPolicy(settings.guards), CachePolicy(settings.caches)
        handler.remote_guards.configure(settings.guards)
        handler.input_guard = None
        if not guards.is_empty:
            handler.input_guard = InputGuard(
                guards, handler.offloaded, handler.remote_guards, self.guard_hits, self._upstream.clock
            )
        self._answer_cache.configure(caches, settings.gateway.cache_bytes_max)
        handler.answer_cache = None if caches.is_empty else self._answer_cache
        self._request_log.abuse, abuse = None, AbusePolicies(settings.abuse)
        if self._signs is not None and not abuse.is_empty:
            self._signs.start()
            self._request_log.abuse = SignRecorder(abuse, self._signs.add)
        if not any(pool.autoscaling for pool in settings.pools.values()):
            self._request_log.demand = None
        elif self._request_log.demand is None:
            self._request_log.demand = DemandTally()
        self._cascades.configure(read_cascades(settings.cascades))
        handler.cascades = self._cascades if settings.cascades else None

    def _take_rollouts(self, rules: Mapping[str, ModelRule]) -> None:
        self._request_log.arms.take(rules)
        self._request_log.shadow.take(rules)

    def view(self, name: str) -> WorkerView:
        """What this worker knows now."""
        upstream, limit = self._upstream, self._upstream.limit
        return WorkerView(
            name=name,
            pid=os.getpid(),
            version=self.version,
            at_s=time.monotonic(),
            fleet=self._watch.snapshot(),
            health=upstream.selector.health.snapshot(upstream.clock()),
            in_flight=limit.in_flight,
            in_flight_by_replica=dict(limit.by_replica),
            rollouts=self._request_log.arms.snapshot(),
            queued_by_project=self._controller.queues.waiting_by_project(QUEUED_PROJECTS_MAX),
            demand=self._demand(),
            kv=self._kv(),
        )

    def _follow_kv(self, replicas: Sequence[Replica], rules: Mapping[str, ModelRule]) -> None:
        request_log = self._request_log
        self.hot_prefixes.is_on = looks_at_prompts(replicas, rules)
        if not self.hot_prefixes.is_on:
            request_log.kv = None
        elif request_log.kv is None:
            request_log.kv = KvTally(self._upstream.router.fabric.token_bytes)

    def _kv(self) -> KvSeen | None:
        upstream, tally = self._upstream, self._request_log.kv
        if tally is None:
            return None
        return kv_seen(
            upstream.router,
            upstream.fleet.snapshot,
            tally,
            files=upstream.kv.files,
            prefixes=self.hot_prefixes.latest,
            now_s=upstream.clock(),
            prefetches=upstream.kv.prefetcher.seen,
        )

    def _demand(self) -> dict[str, DemandSeen]:
        tally = self._request_log.demand
        return {} if tally is None else tally.snapshot(self._controller.queues.depths(), self._held_models())

    def _held_models(self) -> set[str]:
        """Models that requests wait for while no replica is ready."""
        ready = self._upstream.fleet.snapshot.by_model
        return {
            model
            for model in self._controller.queues.depths()
            if not any(replica.is_takeable for replica in ready.get(model, ()))
        }

    def is_holding(self) -> bool:
        """Whether requests wait for a first replica, which the supervisor has to hear of."""
        return self._request_log.demand is not None and bool(self._held_models())

    def takeable(self) -> int:
        """How many replicas may be given work, as far as this worker knows."""
        return sum(replica.is_takeable for replica in self._upstream.fleet.snapshot.replicas)

    def is_emptying(self) -> bool:
        """Whether a change of the fleet may be waiting for the last answer of a replica."""
        by_replica = self._upstream.limit.by_replica
        return any(one.is_draining and by_replica.get(one.id) for one in self._upstream.fleet.snapshot.replicas)


def _forget_gauges(gone: Iterable[Replica]) -> None:
    for replica in gone:
        metrics.in_flight.forget((replica.model, replica.pool, replica.id))
        for gauge in (
            metrics.prefix_trust,
            metrics.ejected,
            metrics.breaker_open,
            metrics.weight,
            metrics.in_flight_limit,
        ):
            gauge.forget((replica.pool, replica.id))
        for what in (REQUESTS, TOKENS, INPUT_TOKENS, OUTPUT_TOKENS):
            metrics.provider_remaining.forget((replica.pool, replica.id, what))
        for state in ("busy", "idle"):
            metrics.engine_connections.forget((replica.id, state))


def caller_ring(
    settings: Settings, tenants: TenantSnapshot, tokens: TokenIssuers, console_key_sha256: str = ""
) -> CallerRing:
    """Whose keys open; where there never was a key, and none is required, no caller needs one."""
    admission = settings.admission
    return CallerRing(
        tenants,
        admission.api_keys_sha256,
        is_keyless=not _has_keys(settings, tenants),
        context_tokens_by_tier=admission.context_tokens_by_tier,
        batch_price_by_tier=settings.batches.price_by_tier,
        console_digest=console_key_sha256,
        certificates=_certificate_rules(settings),
        tokens=tokens if settings.issuers else None,
    )


def _certificate_rules(settings: Settings) -> CertificateRules | None:
    gateway = settings.gateway
    if gateway.tls_client_authorities is None:
        return None
    return CertificateRules(settings.admission.certificates, is_required=gateway.tls_client_certificates == "required")


def host_names(settings: Settings, tenants: TenantSnapshot) -> HostNames:
    """The names a gateway with these settings answers to."""
    return HostNames((settings.gateway.host, *settings.gateway.host_names), has_keys=_has_keys(settings, tenants))


def _has_keys(settings: Settings, tenants: TenantSnapshot) -> bool:
    """To revoke the last key, or to disable its project, must not open the gateway to all."""
    admission = settings.admission
    is_issued = tenants.has_keys or bool(tenants.callers)
    return admission.requires_key or bool(admission.api_keys_sha256) or bool(settings.issuers) or is_issued
