"""From what workers and drivers say to what the autoscaler sees. Times are seconds since the epoch."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Health, PoolName, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.gateway.demand_tally import DemandSeen
from heterodyne.planning.scaling.observation import Observation, PoolObservation, ScaledReplica
from heterodyne.supervisor.gateways.gateway_report import ModelDemand
from heterodyne.supervisor.workers.view import WorkerView

PROMPT_MEAN_S = 60.0  # over which the mean length of prompts moves
OTHERS_MAX = 1000  # workers of other gateways whose sums are remembered
NONE_SEEN = DemandSeen()


class MemberSeen(Struct, frozen=True, kw_only=True):
    """One replica of a pool that grows and shrinks, as its driver and the fleet have it."""

    id: ReplicaId
    asked_at_s: float
    is_there: bool  # its driver has seen it ready; of one that has no driver: it is listed
    is_leaving: bool  # it gets nothing new
    taken_at_s: float | None = None


class Elsewhere(Struct, frozen=True, kw_only=True):
    """What other gateways have seen of one model."""

    demand: Mapping[str, ModelDemand] = {}  # by gateway and worker
    in_flight: Mapping[ReplicaId, int] = {}


NOWHERE_ELSE = Elsewhere()


class ModelObserver:
    """Owned by the autoscaler; one per model."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._sums: dict[str, ModelDemand] = {}  # by worker and process
        self._others: dict[str, ModelDemand] = {}  # the same of other gateways, those not heard of now too
        self._looked_at_s: float | None = None
        self._prompt_mean: float | None = None  # None: no prompt has been seen
        self._started: dict[PoolName, set[tuple[ReplicaId, float]]] = {}  # lives that have been seen ready

    def observe(
        self,
        now_s: float,
        views: Sequence[WorkerView],
        pools: Mapping[PoolName, Sequence[MemberSeen]],
        elsewhere: Elsewhere = NOWHERE_ELSE,
    ) -> Observation:
        """What has happened since the last look, and what there is.

        Who was refused while there was no replica would have been held with more time, and wakes as those do.
        """
        span_s = 1.0 if self._looked_at_s is None else max(0.1, now_s - self._looked_at_s)
        self._looked_at_s = now_s
        arrivals, ended, more = self._grown(views, elsewhere.demand)
        seen = (*self._sums.values(), *elsewhere.demand.values())
        loads = _loads(views)
        told = [self._pool(name, members, views, elsewhere, now_s) for name, members in pools.items()]
        engines = [loads[member.id].waiting or 0 for those in pools.values() for member in those if member.id in loads]
        return Observation(
            at_s=now_s,
            span_s=span_s,
            arrivals=arrivals,
            prompt_tokens=round(arrivals * self._mean_prompt(more, ended, span_s)),
            ended=ended,
            output_tokens=more.output_tokens,
            cached_tokens=more.cached_tokens,
            late=more.late + more.refused,
            risk=more.risk,
            in_flight=sum(one.in_flight for one in seen),
            waiting=sum(one.seen.queued for one in seen) + sum(engines),
            held=sum(one.seen.held for one in seen) + (0 if any(pools.values()) else more.refused),
            pools=tuple(told),
        )

    def _grown(self, views: Sequence[WorkerView], others: Mapping[str, ModelDemand]) -> tuple[int, int, DemandSeen]:
        """Arrivals, ends, and all the sums, since the last look; a worker that is new brings all it has seen, if it is
        of this gateway: others may only now be heard of."""
        sums = demands_of(self._model, views)
        pairs = [(one, self._sums.get(key)) for key, one in sums.items()]
        # At the first look of all there is no telling when those came that are there.
        if not self._sums:
            pairs = [(one, one) for one in sums.values()]
        self._sums = sums
        pairs += [(one, self._others.get(key, one)) for key, one in others.items()]
        silent = {key: one for key, one in self._others.items() if key not in others}
        self._others = dict([*silent.items(), *others.items()][-OTHERS_MAX:])
        more = [_less(one.seen, NONE_SEEN if before is None else before.seen) for one, before in pairs]
        whole = DemandSeen(
            ended=sum(one.ended for one in more),
            refused=sum(one.refused for one in more),
            late=sum(one.late for one in more),
            risk=sum(one.risk for one in more),
            prompt_tokens=sum(one.prompt_tokens for one in more),
            cached_tokens=sum(one.cached_tokens for one in more),
            output_tokens=sum(one.output_tokens for one in more),
        )
        come = sum(one.come - (0 if before is None else before.come) for one, before in pairs)
        return max(0, come), whole.ended + whole.refused, whole

    def _mean_prompt(self, more: DemandSeen, ended: int, span_s: float) -> float:
        if ended and more.prompt_tokens:
            mean = more.prompt_tokens / ended
            before = mean if self._prompt_mean is None else self._prompt_mean
            self._prompt_mean = before + min(1.0, span_s / PROMPT_MEAN_S) * (mean - before)
        return self._prompt_mean or 0.0

    def _pool(
        self,
        name: PoolName,
        members: Sequence[MemberSeen],
        views: Sequence[WorkerView],
        elsewhere: Elsewhere,
        now_s: float,
    ) -> PoolObservation:
        ready, loads, in_flight = _ready_everywhere(views), _loads(views), in_flight_of(views)
        replicas = tuple(
            ScaledReplica(
                id=one.id,
                stage=_stage(one, ready),
                asked_at_s=one.asked_at_s,
                in_flight=in_flight.get(one.id, 0) + elsewhere.in_flight.get(one.id, 0),
                taken_at_s=one.taken_at_s,
            )
            for one in members
        )
        kv = [share for one in members if (load := loads.get(one.id)) and (share := load.kv_share) is not None]
        return PoolObservation(
            pool=name,
            replicas=replicas,
            cold_starts_s=self._measured(name, members, replicas, now_s),
            kv_share=sum(kv) / len(kv) if kv else 0.0,
        )

    def _measured(
        self, name: PoolName, members: Iterable[MemberSeen], replicas: Iterable[ScaledReplica], now_s: float
    ) -> tuple[float, ...]:
        """Starts that ended since the last look, from being asked for to being ready for requests.

        Of what is ready at the first look nobody knows when it became so.
        """
        ready = {(one.id, one.asked_at_s) for one in replicas if one.stage is ReplicaStage.READY}
        known = self._started.get(name)
        self._started[name] = ((known or set()) | ready) & {(one.id, one.asked_at_s) for one in members}
        return tuple(now_s - asked_at_s for _, asked_at_s in (set() if known is None else ready - known))


def demands_of(model: str, views: Sequence[WorkerView]) -> dict[str, ModelDemand]:
    """By worker and process, what each has seen of one model."""
    found = {}
    for view in views:
        models = {one.id: one.model for one in view.fleet.replicas}
        in_flight = sum(n for id, n in view.in_flight_by_replica.items() if models.get(id) == model)
        seen = view.demand.get(model, NONE_SEEN)
        found[f"{view.name} {view.pid}"] = ModelDemand(seen=seen, in_flight=in_flight)
    return found


def in_flight_of(views: Sequence[WorkerView]) -> dict[ReplicaId, int]:
    """Of all workers, on each replica that has any."""
    sums: dict[ReplicaId, int] = {}
    for view in views:
        for id, count in view.in_flight_by_replica.items():
            if count:
                sums[id] = sums.get(id, 0) + count
    return sums


def _stage(one: MemberSeen, ready: frozenset[ReplicaId]) -> ReplicaStage:
    if one.is_leaving:
        return ReplicaStage.DRAINING
    return ReplicaStage.READY if one.is_there and one.id in ready else ReplicaStage.WARMING


def _ready_everywhere(views: Sequence[WorkerView]) -> frozenset[ReplicaId]:
    seen = [frozenset(one.id for one in view.fleet.replicas if one.health is Health.READY) for view in views]
    return frozenset.intersection(*seen) if seen else frozenset()


def _loads(views: Iterable[WorkerView]) -> dict[ReplicaId, EngineLoad]:
    """Of each replica, the freshest."""
    ages: dict[ReplicaId, tuple[float, EngineLoad]] = {}
    for view in views:
        for one in view.fleet.replicas:
            if one.load is not None and one.load_age_s is not None:
                known = ages.get(one.id)
                if known is None or one.load_age_s < known[0]:
                    ages[one.id] = (one.load_age_s, one.load)
    return {id: load for id, (_, load) in ages.items()}


def _less(now: DemandSeen, before: DemandSeen) -> DemandSeen:
    return DemandSeen(
        ended=now.ended - before.ended,
        refused=now.refused - before.refused,
        late=now.late - before.late,
        risk=now.risk - before.risk,
        prompt_tokens=now.prompt_tokens - before.prompt_tokens,
        cached_tokens=now.cached_tokens - before.cached_tokens,
        output_tokens=now.output_tokens - before.output_tokens,
    )
