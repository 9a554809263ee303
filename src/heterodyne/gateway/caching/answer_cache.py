"""Looks for an answer before a request is admitted, and keeps those that replicas give.

Answers are kept as they come from a replica, in OpenAI's words: who asks in another API is told the same answer, and
every policy looks at it anew. A request with the key of one that is being answered waits for that answer, unless it
streams: its first word would come later than a replica's.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec
from blake3 import blake3

from heterodyne.admission.hold import Hold
from heterodyne.caching.entry import CachedAnswer
from heterodyne.caching.exact.kept_answers import KeptAnswers
from heterodyne.caching.exact.key import is_deterministic, is_repeatable, request_key
from heterodyne.caching.policy import CachePolicy
from heterodyne.caching.settings import CacheSettings
from heterodyne.domain.cache_use import HIT, MISS
from heterodyne.domain.errors import HeterodyneError, NotCached
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.admission_gate import AdmissionGate
from heterodyne.gateway.caching.cache_control import CacheControl, read_cache_control
from heterodyne.gateway.caching.cache_hit import CacheHit
from heterodyne.gateway.caching.cache_miss import CacheMiss
from heterodyne.gateway.caching.cached_exchange import CachedExchange
from heterodyne.gateway.caching.following import Flights
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.routed_head import Arrival
from heterodyne.gateway.upstream import Upstream
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import metrics
from heterodyne.telemetry.tracing.context import Trace
from heterodyne.wire.server_connection import Responder

BODY_BYTES_MAX: Final = 64 * 1024  # of a request that is looked up: its key takes a millisecond at most
FOLLOWED: Final = "followed"
GENERATES: Final = (Operation.CHAT, Operation.COMPLETION)
MEASURES: Final = (Operation.EMBEDDING, Operation.RERANK, Operation.SCORE, Operation.MODERATION)  # nothing by chance
CUT_SHORT: Final = b'"content_filter"'  # what a replica says at the end of an answer that it did not give

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class AnswerCache:
    """One per worker."""

    def __init__(
        self, gate: AdmissionGate, upstream: Upstream, request_log: RequestLog, wall_clock: Callable[[], float]
    ) -> None:
        self._gate = gate
        self._upstream = upstream
        self._request_log = request_log
        self._clock, self._wall_clock = upstream.clock, wall_clock
        self._policy = CachePolicy({})
        self._kept = KeptAnswers(0)
        self._flights = Flights()

    def configure(self, policy: CachePolicy, bytes_max: int) -> None:
        """Other policies from the next request on; what is kept under one that is gone is not found any more."""
        self._policy = policy
        self._kept.resize(bytes_max)
        if policy.is_empty:
            self._kept.clear()
        self._note_size()

    def receive(
        self,
        arrival: Arrival,
        request: Request,
        routing_request: RoutingRequest,
        trace: Trace | None,
        *,
        later: Callable[[Arrival, Request], None],
        refused: Callable[[Arrival, HeterodyneError], None],
    ) -> Responder:
        """Whoever answers from here; `later` admits it anew when the answer it waited for has come or has not."""
        control = read_cache_control(arrival.http.headers)
        settings = self._settings(arrival, request, routing_request)
        found = None if settings is None else self._miss(arrival, request, routing_request, settings, control)
        if found is None:
            if control.is_only_cached:
                raise NotCached("Nothing is kept of requests like this one, and `only-if-cached` asks no replica.")
            return self._admit(arrival, request, routing_request, trace)
        has_waited = request.cache is not None
        if control.is_looked_up:
            answer = self._kept.try_get(found.key, arrival.caller.salt, self._wall_clock())
            if answer is not None and self._wall_clock() - answer.stored_at_s <= control.age_max_s:
                return self._serve(answer, arrival, request, routing_request, trace)
        if control.is_only_cached:
            raise NotCached("No answer to this request is kept, and `only-if-cached` asks no replica.")
        if control.is_looked_up and not request.stream and not has_waited:
            follower = self._flights.try_follow(
                found.key,
                request.deadline_s - self._clock(),
                go_on=partial(later, arrival, request),
                refused=partial(refused, arrival),
            )
            if follower is not None:
                request.cache = found
                metrics.cache_answers.add((routing_request.model, FOLLOWED))
                return follower
        metrics.cache_answers.add((routing_request.model, MISS))
        if not control.is_stored:
            return self._admit(arrival, request, routing_request, trace)
        request.cache = found
        self._flights.lead(found.key, found)
        try:
            return self._admit(arrival, request, routing_request, trace)
        except BaseException:
            found.drop()
            raise

    def _settings(self, arrival: Arrival, request: Request, routing_request: RoutingRequest) -> CacheSettings | None:
        """Those by which its answer may be kept; None: no policy is about it, or it is not one of its kind."""
        is_known = request.operation in GENERATES or request.operation in MEASURES
        if not is_known or request.is_large or len(request.body) > BODY_BYTES_MAX or routing_request.pool:
            return None
        return self._policy.choice(arrival.caller.project, request.model, routing_request.model)

    def _miss(
        self,
        arrival: Arrival,
        request: Request,
        routing_request: RoutingRequest,
        settings: CacheSettings,
        control: CacheControl,
    ) -> CacheMiss | None:
        """The request under its key, with what keeps its answer; None: another time it would be answered otherwise."""
        version = _version(self._upstream.fleet.snapshot, routing_request.model)
        if version is None:
            return None
        body = _decode(request.body)
        if request.operation in GENERATES:
            takes_sampled = settings.sampled or control.ttl_s is not None
            if not (is_repeatable(body) if takes_sampled else is_deterministic(body)):
                return None
        salt = arrival.caller.salt
        key = request_key(
            body,
            tenant_salt=blake3(salt + b"\0" + settings.generation.encode()).digest(),
            model_version=f"{routing_request.model}@{version}",
            path=request.operation,
        )
        ttl_s = settings.ttl_s if control.ttl_s is None else min(control.ttl_s, settings.ttl_s)
        return CacheMiss(
            key,
            operation=request.operation,
            model=routing_request.model,
            version=version,
            settled=partial(self._settled, salt, ttl_s),
        )

    def _serve(
        self,
        kept: CachedAnswer,
        arrival: Arrival,
        request: Request,
        routing_request: RoutingRequest,
        trace: Trace | None,
    ) -> Responder:
        now_s = self._wall_clock()
        metrics.cache_answers.add((routing_request.model, HIT))
        metrics.cache_saved_usd.add((routing_request.model,), kept.usd)
        request.cache = CacheHit(now_s - kept.stored_at_s, kept.usd)
        hold = Hold(arrival.caller, arrival.arrived_s)
        exchange = CachedExchange(
            self._gate.client_answer(arrival.connection, request, hold, arrival.route.form),
            request,
            routing_request,
            hold,
            trace,
            request_log=self._request_log,
            offload=self._upstream.offload,
            clock=self._clock,
        )
        exchange.start(kept.body, now_s)
        return exchange

    def _admit(
        self, arrival: Arrival, request: Request, routing_request: RoutingRequest, trace: Trace | None
    ) -> Responder:
        return self._gate.receive(
            arrival.connection,
            request,
            routing_request,
            arrival.caller,
            form=arrival.route.form,
            arrived_s=arrival.arrived_s,
            trace=trace,
        )

    def _settled(self, fence: bytes, ttl_s: float, miss: CacheMiss, body: bytes | None, usd: float) -> None:
        """A replica's answer has come, or never will."""
        if body is not None and CUT_SHORT not in body:
            now_s = self._wall_clock()
            self._kept.put(
                CachedAnswer(
                    key=miss.key,
                    fence=fence,
                    model_version=f"{miss.model}@{miss.version}",
                    stored_at_s=now_s,
                    expires_at_s=now_s + ttl_s,
                    body=body,
                    usd=usd,
                )
            )
            self._note_size()
        self._flights.landed(miss.key, miss)

    def _note_size(self) -> None:
        metrics.cache_bytes.set((), self._kept.size_bytes)
        metrics.cache_entries.set((), len(self._kept))


def _version(fleet: FleetSnapshot, model: str) -> str | None:
    """The one that all replicas of the model serve; None: there are several, or a rollout compares two."""
    rule = fleet.rules.get(model)
    if rule is not None and rule.split is not None and (rule.split.has_users or rule.split.has_copies):
        return None
    versions = {replica.version or "" for replica in fleet.by_model.get(model, ())}
    return versions.pop() if len(versions) == 1 else None
