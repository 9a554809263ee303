"""Pure: what is wanted and what every worker says become the page an operator reads."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from heterodyne.console.fleet.pages import ReplicaCondition, ReplicaRow, WorkerOpinion
from heterodyne.control.problems import url_of
from heterodyne.control.replica_seen import ReplicaSeen
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Health, ReplicaId
from heterodyne.routing.health.snapshot import ReplicaHealthSnapshot
from heterodyne.supervisor.fleet.reconcile import FleetMember
from heterodyne.supervisor.workers.view import WorkerView

WORST_FIRST = (Health.DOWN, Health.STARTING, Health.READY)


class ManagedReplicaState(Struct, frozen=True, kw_only=True):
    """What the owner of the fleet knows of one replica."""

    member: FleetMember
    is_drained: bool
    is_leaving: bool
    is_restarting: bool
    process_restarts: int | None  # None: it was started elsewhere


class _WorkerReport(NamedTuple):
    """What one worker says of one replica."""

    view: WorkerView
    seen: ReplicaSeen
    health: ReplicaHealthSnapshot | None


def replica_rows(fleet: Sequence[ManagedReplicaState], views: Sequence[WorkerView]) -> tuple[ReplicaRow, ...]:
    """The replicas, as all workers together see them."""
    known: dict[ReplicaId, list[_WorkerReport]] = {}
    for view in views:
        healths = {one.replica: one for one in view.health.replicas}
        for seen in view.fleet.replicas:
            known.setdefault(seen.id, []).append(_WorkerReport(view, seen, healths.get(seen.id)))
    return tuple(_row(managed, known.get(managed.member.replica.id, [])) for managed in fleet)


def worst_health(seen: Iterable[Health]) -> Health:
    """What to believe where workers disagree; a replica that was never probed is starting."""
    return min(seen, key=WORST_FIRST.index, default=Health.STARTING)


def _row(managed: ManagedReplicaState, known: list[_WorkerReport]) -> ReplicaRow:
    replica = managed.member.replica
    health = worst_health(one.seen.health for one in known)
    in_flight = sum(one.view.in_flight_by_replica.get(replica.id, 0) for one in known)
    load, load_age_s = _freshest([one.seen for one in known])
    noticed = max((one.seen.restarts for one in known), default=0)
    return ReplicaRow(
        id=replica.id,
        pool=replica.pool,
        model=replica.model,
        engine=replica.engine,
        url=url_of(replica),
        state=_state(managed, health, in_flight),
        health=health,
        is_drained=managed.is_drained,
        is_local=managed.member.order is not None,
        is_added=managed.member.is_added,
        in_flight=in_flight,
        problems=tuple(dict.fromkeys(problem.text for one in known for problem in one.seen.problems)),
        load=load,
        load_age_s=load_age_s,
        restarts=noticed if managed.process_restarts is None else managed.process_restarts,
        hardware=replica.hardware,
        tp=replica.tp,
        region=replica.region,
        version=replica.version,
        labels=replica.labels,
        price=replica.price,
        workers=tuple(map(_opinion, known)),
        purpose=replica.purpose,
    )


def _state(managed: ManagedReplicaState, health: Health, in_flight: int) -> ReplicaCondition:
    if managed.is_leaving:
        return ReplicaCondition.LEAVING
    if managed.is_restarting:
        return ReplicaCondition.RESTARTING
    if managed.is_drained:
        return ReplicaCondition.DRAINING if in_flight else ReplicaCondition.DRAINED
    return ReplicaCondition(health.value)


def _freshest(seen: list[ReplicaSeen]) -> tuple[EngineLoad | None, float | None]:
    aged = [(one.load_age_s, one.load) for one in seen if one.load is not None and one.load_age_s is not None]
    if not aged:
        return None, None
    age_s, load = min(aged, key=lambda pair: pair[0])
    return load, age_s


def _opinion(known: _WorkerReport) -> WorkerOpinion:
    view, seen, health = known
    ejected_until_s = None if health is None else health.ejected_until_s
    return WorkerOpinion(
        worker=view.name,
        health=seen.health,
        obstacle=None if health is None else health.obstacle,
        breaker=None if health is None else health.breaker,
        ejected_for_s=None if ejected_until_s is None else max(0.0, ejected_until_s - view.at_s),
        in_flight=view.in_flight_by_replica.get(seen.id, 0),
        in_flight_limit=None if health is None else health.in_flight_limit,
        remaining={} if health is None else health.remaining,
    )
