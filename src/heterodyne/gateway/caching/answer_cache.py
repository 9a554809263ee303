"""Looks for an answer before a request is admitted, and keeps those that replicas give.

Answers are kept as they come from a replica, in OpenAI's words: who asks in another API is told the same answer, and
every policy looks at it anew. A request with the key of one that is being answered waits for that answer, unless it
streams: its first word would come later than a replica's.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
from blake3 import blake3

from heterodyne.caching.drops import CacheDrops
from heterodyne.caching.entry import CachedAnswer
from heterodyne.caching.exact.kept_answers import KeptAnswers
from heterodyne.caching.exact.key import is_deterministic, is_repeatable, request_key
from heterodyne.caching.policy import CachePolicy, NamedCache
from heterodyne.caching.semantic.growing_index import load_graph
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.cache_use import HIT, MISS, SIMILAR
from heterodyne.domain.errors import HeterodyneError, NotCached
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.admission_gate import AdmissionGate
from heterodyne.gateway.caching.cache_control import CacheControl, read_cache_control
from heterodyne.gateway.caching.cache_hit import CacheHit
from heterodyne.gateway.caching.cache_miss import CacheMiss
from heterodyne.gateway.caching.following import Flights
from heterodyne.gateway.caching.semantic_cache import SemanticCache
from heterodyne.gateway.caching.shared_answers import SharedAnswers
from heterodyne.gateway.ready_answer import ReadyAnswers
from heterodyne.gateway.routed_head import Arrival
from heterodyne.gateway.upstream import Upstream
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import metrics
from heterodyne.telemetry.tracing.context import Trace
from heterodyne.wire.responder import Responder

BODY_BYTES_MAX: Final = 64 * 1024  # of a request that is looked up: its key takes a millisecond at most
FOLLOWED: Final = "followed"
SWEPT_AT_ONCE: Final = 1000  # in one turn of the loop
GENERATES: Final = (Operation.CHAT, Operation.COMPLETION)
MEASURES: Final = (Operation.EMBEDDING, Operation.RERANK, Operation.SCORE, Operation.MODERATION)  # nothing by chance
CUT_SHORT: Final = b'"content_filter"'  # what a replica says at the end of an answer that it did not give

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Keeping(NamedTuple):
    """How the answer to a request is kept, should there come one."""

    fence: bytes
    project: str
    tags: tuple[str, ...]
    asked_at_s: float
    ttl_s: float
    is_shared: bool


class FoundAnswer(NamedTuple):
    """One that is served."""

    kept: CachedAnswer
    cosine: float | None = None  # of the prompt that it answered; None: that was the same


class AnswerCache:
    """One per worker."""

    def __init__(
        self,
        gate: AdmissionGate,
        upstream: Upstream,
        ready: ReadyAnswers,
        *,
        wall_clock: Callable[[], float],
        chance: Callable[[], float],
    ) -> None:
        self._gate = gate
        self._upstream = upstream
        self._ready = ready
        self._clock, self._wall_clock = upstream.clock, wall_clock
        self._policy = CachePolicy({})
        self._kept = KeptAnswers(0)
        self.semantic = SemanticCache(self._kept, chance)
        self.shared: SharedAnswers | None = None  # None: this worker keeps its own alone
        self.shared_region: str | None = None  # where what is shared is; None: where we are
        self._flights = Flights()

    def configure(self, policy: CachePolicy, bytes_max: int) -> None:
        """Other policies from the next request on; what is kept under one that is gone is not found any more."""
        self._policy = policy
        if policy.compares_meanings:
            load_graph()
        self._kept.resize(bytes_max)
        if policy.is_empty:
            self._kept.clear()
            self.semantic.clear()
        self._note_size()

    def take_drops(self, drops: Iterable[CacheDrop]) -> None:
        """These are not given again from now on; their memory is given back bit by bit."""
        drops = tuple(drops)
        self._kept.drops = CacheDrops(drops)
        if self.semantic.shared is not None:
            self.semantic.shared.take_drops(drops)
        self._sweep(self._kept.keys())

    def _sweep(self, keys: tuple[bytes, ...]) -> None:
        self._kept.sweep(keys[:SWEPT_AT_ONCE])
        self._note_size()
        if len(keys) > SWEPT_AT_ONCE:
            asyncio.get_running_loop().call_soon(self._sweep, keys[SWEPT_AT_ONCE:])

    async def close(self) -> None:
        """Nothing is looked up any more."""
        await self.semantic.close()
        if self.shared is not None:
            await self.shared.close()

    def receive(
        self,
        arrival: Arrival,
        request: Request,
        routing_request: RoutingRequest,
        trace: Trace | None,
        *,
        later: Callable[[Arrival, Request], None],
        refused: Callable[[Arrival, HeterodyneError, Request], None],
    ) -> Responder:
        """Whoever answers from here; `later` admits it anew when the answer it waited for has come or has not."""
        control = read_cache_control(arrival.http.headers)
        if not (control.is_looked_up or control.is_stored or control.is_only_cached):
            return self._admit(arrival, request, routing_request, trace)
        miss = request.cache if isinstance(request.cache, CacheMiss) else None
        if miss is None:
            miss = self._try_miss(arrival, request, routing_request, control)
        if miss is None:
            if control.is_only_cached:
                raise NotCached("Nothing is kept of requests like this one, and `only-if-cached` asks no replica.")
            return self._admit(arrival, request, routing_request, trace)
        if control.is_looked_up:
            found = self._try_find(miss, arrival.caller, control)
            if found is not None:
                return self._serve(found, miss, arrival, request, routing_request=routing_request, trace=trace)
            began_s = self._clock()

            def go_on() -> None:
                arrival.waited_s += self._clock() - began_s
                later(arrival, request)

            step = self._try_wait(
                miss, arrival, request, control, go_on=go_on, refused=lambda error: refused(arrival, error, request)
            )
            if step is not None:
                request.cache = miss
                return step
        if control.is_only_cached:
            raise NotCached("No answer to this request is kept, and `only-if-cached` asks no replica.")
        metrics.cache_answers.add((miss.cache, miss.model, MISS))
        request.cache = miss if control.is_stored else None
        if control.is_stored:
            self._flights.lead(miss.key, miss)
        try:
            return self._admit(arrival, request, routing_request, trace)
        except BaseException:
            miss.drop()
            raise

    def _try_find(self, miss: CacheMiss, caller: Caller, control: CacheControl) -> FoundAnswer | None:
        """An answer that is kept, to this prompt or to one that means the same."""
        now_s = self._wall_clock()
        answer = self._kept.try_get(miss.key, caller.salt, now_s)
        if answer is not None and now_s - answer.stored_at_s <= control.age_max_s:
            return FoundAnswer(answer)
        look = miss.look
        if look is None:
            return None
        similar = self.semantic.choose(look, now_s, control.age_max_s)
        return None if similar is None else FoundAnswer(similar, look.cosine)

    def _try_wait(
        self,
        miss: CacheMiss,
        arrival: Arrival,
        request: Request,
        control: CacheControl,
        *,
        go_on: Callable[[], None],
        refused: Callable[[HeterodyneError], None],
    ) -> Responder | None:
        """The turn of its connection until it was looked up where answers are shared, and then until the same request
        was answered or its prompt is embedded; None: there is nothing to wait for."""
        if self.shared is not None and not miss.was_shared:
            miss.was_shared = True
            step = self.shared.try_begin(
                miss.key, arrival.caller.salt, found=self._kept.put, go_on=go_on, refused=refused
            )
            if step is not None:
                return step
        if miss.has_waited:
            return (
                None if miss.look is None else self.semantic.try_begin_shared(miss.look, go_on=go_on, refused=refused)
            )
        miss.has_waited = True
        wait_s = request.deadline_s - self._clock()
        if not request.stream:
            follower = self._flights.try_follow(miss.key, wait_s, go_on=go_on, refused=refused)
            if follower is not None:
                metrics.cache_answers.add((miss.cache, miss.model, FOLLOWED))
                return follower
        if miss.look is None or not control.takes_similar or not control.is_stored:
            return None
        return self.semantic.begin(miss.look, wait_s, go_on=go_on, refused=refused)

    def _try_policy(self, arrival: Arrival, request: Request, routing_request: RoutingRequest) -> NamedCache | None:
        """That by which its answer may be kept; None: no policy is about it, or it is not one of its kind."""
        is_known = request.operation in GENERATES or request.operation in MEASURES
        if not is_known or request.is_large or len(request.body) > BODY_BYTES_MAX or routing_request.pool:
            return None
        return self._policy.choice(arrival.caller.project, request.model, routing_request.model)

    def _try_miss(
        self, arrival: Arrival, request: Request, routing_request: RoutingRequest, control: CacheControl
    ) -> CacheMiss | None:
        """The request under its key, with what keeps its answer; None: no answer to it may be kept."""
        policy = self._try_policy(arrival, request, routing_request)
        model = routing_request.model
        version = None if policy is None else _version(self._upstream.fleet.snapshot, model)
        if policy is None or version is None:
            return None
        settings = policy.settings
        body = _decode(request.body)
        if request.operation in GENERATES:
            takes_sampled = settings.sampled or control.ttl_s is not None
            if not (is_repeatable(body) if takes_sampled else is_deterministic(body)):
                return None
        caller, model_version = arrival.caller, f"{model}@{version}"
        tenant_salt = blake3(caller.salt + b"\0" + settings.generation.encode()).digest()
        look = None
        if request.operation is Operation.CHAT:
            look = self.semantic.try_look(
                body, policy, caller, tenant_salt=tenant_salt, model=model, model_version=model_version
            )
        ttl_s = settings.ttl_s if control.ttl_s is None else min(control.ttl_s, settings.ttl_s)
        is_shared = self.shared_region is None or routing_request.may_be_in(self.shared_region)
        miss = CacheMiss(
            request_key(body, tenant_salt=tenant_salt, model_version=model_version, path=request.operation),
            cache=policy.name,
            operation=request.operation,
            model=model,
            version=version,
            look=look,
            settled=partial(
                self._settled,
                Keeping(
                    fence=caller.salt,
                    project=caller.project,
                    tags=(*settings.tags, *control.tags),
                    asked_at_s=self._wall_clock(),
                    ttl_s=ttl_s,
                    is_shared=is_shared,
                ),
            ),
        )
        if not is_shared:
            miss.stay_here()
        return miss

    def _serve(
        self,
        found: FoundAnswer,
        miss: CacheMiss,
        arrival: Arrival,
        request: Request,
        *,
        routing_request: RoutingRequest,
        trace: Trace | None,
    ) -> Responder:
        now_s, kept, cosine = self._wall_clock(), found.kept, found.cosine
        metrics.cache_answers.add((miss.cache, miss.model, HIT if cosine is None else SIMILAR))
        metrics.cache_saved_usd.add((miss.cache, miss.model), kept.usd)
        request.cache = CacheHit(now_s - kept.stored_at_s, kept.usd, cosine)
        return self._ready.begin(arrival, request, routing_request, trace, kept.body)

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
            waited_s=arrival.waited_s,
            trace=trace,
        )

    def _settled(self, keeping: Keeping, miss: CacheMiss, body: bytes | None, usd: float) -> None:
        """A replica's answer has come, or never will."""
        answer = None if body is None or CUT_SHORT in body else self._answer(keeping, miss, body, usd)
        if answer is not None and self._kept.drops.has_dropped(answer):
            answer = None  # while it was under way
        if answer is not None:
            self._kept.put(answer)
            self._note_size()
            if self.shared is not None and keeping.is_shared:
                self.shared.keep(answer, keeping.ttl_s)
        if miss.look is not None:
            self.semantic.settled(miss.look, answer, is_shared=keeping.is_shared)
        self._flights.landed(miss.key, miss)

    def _answer(self, keeping: Keeping, miss: CacheMiss, body: bytes, usd: float) -> CachedAnswer:
        now_s = self._wall_clock()
        return CachedAnswer(
            key=miss.key,
            fence=keeping.fence,
            model_version=f"{miss.model}@{miss.version}",
            stored_at_s=now_s,
            expires_at_s=now_s + keeping.ttl_s,
            body=body,
            usd=usd,
            tags=keeping.tags,
            project=keeping.project,
            asked_at_s=keeping.asked_at_s,
        )

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
