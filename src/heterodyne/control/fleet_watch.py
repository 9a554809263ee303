"""Looks at every replica, again and again, and publishes what is known as one frozen snapshot.

    watch = FleetWatch(ENGINES, pool, fleet.snapshot, fleet.publish, clock=time.monotonic, chance=random.random)
    await watch.run()                  until cancelled
    watch.update(replicas, rules)      the fleet is another from here on
    watch.snapshot()                   what it knows, with ages and in words

A change of health is published at once, readings of load together twice a second.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from msgspec import structs

from heterodyne.control import fleet_meters, problems
from heterodyne.control.probe_schedule import USUAL, ProbeSchedule
from heterodyne.control.prober import Clock, Prober, ProbeResult
from heterodyne.control.problems import Place, ReplicaProblem
from heterodyne.control.region_distances import RegionDistances
from heterodyne.control.replica_seen import FleetSeen
from heterodyne.control.replica_watch import ReplicaWatch
from heterodyne.control.warm_up import warm_up
from heterodyne.domain.errors import EngineError
from heterodyne.domain.fleet import FleetSnapshot, Health, ModelRule, Replica, ReplicaId
from heterodyne.ports.engine_control import EngineControl
from heterodyne.telemetry import log
from heterodyne.wire.connection_pool import ConnectionPool

LOAD_INTERVAL_S = 0.5  # between publications that bring nothing but load
HEALTH_INTERVAL_S = 0.02  # between any two: a fleet that comes up together is not published once for each

_log = log.get("control")

Publish = Callable[[FleetSnapshot], None]


async def _has_nothing(_: Replica) -> None:
    """Nobody knows what a new replica is going to be asked."""


class FleetWatch:
    """One loop per replica, all children of one task. The pool is its own: it leaves no connection to an address
    that has left the fleet, and closes it at the end."""

    def __init__(
        self,
        engines: Mapping[str, EngineControl],
        pool: ConnectionPool,
        fleet: FleetSnapshot,
        publish: Publish,
        *,
        clock: Clock,
        chance: Callable[[], float],
        place: Place = problems.url_place,
        pace: ProbeSchedule = USUAL,
        workers: int = 1,
        on_probe: Callable[[ReplicaId, float], None] = lambda _, __: None,
        on_failed_probe: Callable[[ReplicaId], None] = lambda _: None,
        on_restart: Callable[[ReplicaId], None] = lambda _: None,
        answers_of: Callable[[ReplicaId], int] = lambda _: 0,
        warm_up_kv: Callable[[Replica], Awaitable[None]] = _has_nothing,
    ) -> None:
        """`answers_of` says how many whole answers this worker has received from a replica; `warm_up_kv` returns, in
        bounded time, when it may be given work."""
        self._engines = engines
        self._pool = pool
        self._publish_to = publish
        self._clock = clock
        self._chance = chance
        self._place = place
        self._pace = pace
        self._workers = workers
        self._on_probe = on_probe
        self._on_failed_probe = on_failed_probe
        self._on_restart = on_restart
        self._answers_of = answers_of
        self._warm_up_kv = warm_up_kv
        self._distances = RegionDistances(fleet_meters.tell_distance)
        self._published = fleet
        self._rules = fleet.rules
        self._watches = {replica.id: self._begin(replica) for replica in fleet.replicas}
        self._tasks: dict[ReplicaId, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._published_at_s = float("-inf")
        self._due: asyncio.TimerHandle | None = None
        self._due_at_s = 0.0

    async def run(self) -> None:
        """Look until cancelled."""
        try:
            async with asyncio.TaskGroup() as self._group:
                for watch in self._watches.values():
                    self._start(watch)
                await asyncio.Event().wait()  # a fleet may be empty and fill later
        finally:
            self._group = None
            self._tasks.clear()
            if self._due is not None:
                self._due.cancel()
                self._due = None
            await self._pool.close()

    def update(self, replicas: tuple[Replica, ...], rules: dict[str, ModelRule] | None = None) -> None:
        """The fleet is these replicas from now on; what is known of those that stay is kept."""
        before, self._watches = self._watches, {}
        for replica in replicas:
            known = before.get(replica.id)
            if known is not None and _identity(known.configured) == _identity(replica):
                known.configure(replica)
                self._watches[replica.id] = before.pop(replica.id)
            else:
                self._watches[replica.id] = self._begin(replica)
        for gone in before.values():
            self._end(gone)
        self._distances.keep_only({replica.region for replica in replicas})
        for id, watch in self._watches.items():
            if self._group is not None and id not in self._tasks:
                self._start(watch)
        self._pool.forget({address for watch in self._watches.values() for address in self._prober(watch).addresses})
        self._rules = rules or {}
        self._publish()

    def snapshot(self) -> FleetSeen:
        """What is known now."""
        now_s = self._clock()
        return FleetSeen(
            version=self._published.version,
            interval_s=self._interval_s,
            replicas=tuple(watch.snapshot(now_s) for watch in self._watches.values()),
        )

    @property
    def _interval_s(self) -> float:
        return self._pace.interval_s(len(self._watches), self._workers)

    def _begin(self, replica: Replica) -> ReplicaWatch:
        return ReplicaWatch(replica, self._place(replica), self._clock())

    def _start(self, watch: ReplicaWatch) -> None:
        assert self._group is not None
        id = watch.configured.id
        self._tasks[id] = self._group.create_task(self._watch(watch, self._prober(watch)), name=f"watch {id}")

    def _end(self, watch: ReplicaWatch) -> None:
        task = self._tasks.pop(watch.configured.id, None)
        if task is not None:
            task.cancel()
        fleet_meters.forget(watch.seen)

    def _prober(self, watch: ReplicaWatch) -> Prober:
        return Prober(watch.configured, self._engines[watch.configured.engine], self._pool, self._clock)

    async def _watch(self, watch: ReplicaWatch, prober: Prober) -> None:
        await asyncio.sleep(self._pace.first_pause_s(len(self._watches), self._chance()))
        while True:
            try:
                probe = await self._probe(watch, prober)
                if probe.is_ready and not watch.is_warm:
                    probe = await self._warm_up(watch, prober, probe)
                self._take(watch, probe)
            except Exception as error:  # noqa: BLE001  # the root of a task: our mistake must not end the gateway
                _log.error("look_failed", replica=watch.configured.id, exc_info=error)
            await asyncio.sleep(self._pace.pause_s(watch.failures, self._interval_s, self._chance()))

    async def _probe(self, watch: ReplicaWatch, prober: Prober) -> ProbeResult:
        wants_models = watch.wants_models(self._clock())
        # Whenever its models are read again, its usual load pages get another chance.
        has_fallback = watch.has_fallback and not wants_models
        return await prober.probe(wants_models=wants_models, has_fallback=has_fallback)

    async def _warm_up(self, watch: ReplicaWatch, prober: Prober, probe: ProbeResult) -> ProbeResult:
        """What is seen of it after it was asked what it is to answer before users ask it."""
        replica = watch.configured
        if replica.warm_up is not None:
            _log.info("replica_warms_up", replica=replica.id)
            try:
                await warm_up(self._pool, replica)
            except EngineError as error:
                return structs.replace(probe, is_ready=False, error=f"Its warm-up failed: {error}")
        if replica.kv_warm_up is not None:
            await self._warm_up_kv(replica)
        watch.is_warm = True
        return await self._probe(watch, prober)

    def _take(self, watch: ReplicaWatch, probe: ProbeResult) -> None:
        id, before, known = watch.configured.id, watch.seen, watch.problems
        has_restarted = watch.take(probe, self._answers_of(id))
        seen = watch.seen
        if seen.health is not before.health:
            _log.info("replica_health", replica=id, was=before.health.value, now=seen.health.value)
        if watch.problems != known:
            _log_problems(id, known, watch.problems)
        fleet_meters.observe(before, seen, probe, has_restarted=has_restarted)
        if probe.is_ready:
            self._distances.note(seen.region, probe.took_s, probe.at_s)
        if has_restarted:
            _log.warning("replica_restarted", replica=id, restarts=watch.restarts)
            self._on_restart(id)
        if seen.health is Health.READY and probe.is_ready:
            self._on_probe(id, probe.at_s)
        elif not probe.is_ready:
            self._on_failed_probe(id)
        if seen != before:
            self._publish_within(LOAD_INTERVAL_S if seen.health is before.health else HEALTH_INTERVAL_S)

    def _publish_within(self, interval_s: float) -> None:
        """At once when the last publication is that long ago, else when it is."""
        loop = asyncio.get_running_loop()
        at_s = max(loop.time(), self._published_at_s + interval_s)
        if self._due is not None:
            if self._due_at_s <= at_s:
                return
            self._due.cancel()
        self._due, self._due_at_s = loop.call_at(at_s, self._publish), at_s

    def _publish(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
        before, replicas = self._published, tuple(watch.seen for watch in self._watches.values())
        if replicas == before.replicas and self._rules == before.rules:
            return
        self._published_at_s = asyncio.get_running_loop().time()
        self._published = FleetSnapshot.of(before.version + 1, replicas, self._rules)
        self._publish_to(self._published)


def _identity(replica: Replica) -> tuple[object, ...]:
    """Another of any of these is another engine, of which nothing is known yet."""
    return (
        replica.pool,
        replica.model,
        replica.engine,
        replica.engine_model,
        replica.host,
        replica.port,
        replica.tls,
        replica.tls_files,
        replica.base_path,
        replica.api_key_env,
        replica.hardware,
    )


def _log_problems(id: ReplicaId, before: tuple[ReplicaProblem, ...], now: tuple[ReplicaProblem, ...]) -> None:
    """Once when one comes and once when it goes; its words may change in between."""
    kinds_before, kinds_now = {problem.kind for problem in before}, {problem.kind for problem in now}
    for problem in now:
        if problem.kind not in kinds_before:
            _log.warning("replica_problem", replica=id, problem=problem.kind.value, text=problem.text)
    for problem in before:
        if problem.kind not in kinds_now:
            _log.info("replica_problem_over", replica=id, problem=problem.kind.value)
