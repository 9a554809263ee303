"""Pure: what is wanted and what every worker says become the page an operator reads."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from heterodyne.assembly.fleet_plan import Member
from heterodyne.assembly.worker_view import WorkerView
from heterodyne.console.fleet_page import ReplicaRow, State, WorkerOpinion
from heterodyne.control.problems import url_of
from heterodyne.control.replica_seen import ReplicaSeen
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Health, ReplicaId
from heterodyne.routing.standing.snapshot import StandingSnapshot

WORST_FIRST = (Health.DOWN, Health.STARTING, Health.READY)


class HeldState(Struct, frozen=True, kw_only=True):
    """What the owner of the fleet knows of one replica."""

    member: Member
    is_drained: bool
    is_leaving: bool
    is_restarting: bool
    process_restarts: int | None  # None: it was started elsewhere


class _Known(NamedTuple):
    """What one worker says of one replica."""

    view: WorkerView
    seen: ReplicaSeen
    standing: StandingSnapshot | None


def replica_rows(fleet: Sequence[HeldState], views: Sequence[WorkerView]) -> tuple[ReplicaRow, ...]:
    """The replicas, as all workers together see them."""
    known: dict[ReplicaId, list[_Known]] = {}
    for view in views:
        standings = {one.replica: one for one in view.standing.replicas}
        for seen in view.fleet.replicas:
            known.setdefault(seen.id, []).append(_Known(view, seen, standings.get(seen.id)))
    return tuple(_row(held, known.get(held.member.replica.id, [])) for held in fleet)


def worst_health(seen: Iterable[Health]) -> Health:
    """What to believe where workers disagree; a replica nobody has looked at is starting."""
    return min(seen, key=WORST_FIRST.index, default=Health.STARTING)


def _row(held: HeldState, known: list[_Known]) -> ReplicaRow:
    replica = held.member.replica
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
        state=_state(held, health, in_flight),
        health=health,
        is_drained=held.is_drained,
        is_local=held.member.order is not None,
        is_added=held.member.is_added,
        in_flight=in_flight,
        problems=tuple(dict.fromkeys(problem.text for one in known for problem in one.seen.problems)),
        load=load,
        load_age_s=load_age_s,
        restarts=noticed if held.process_restarts is None else held.process_restarts,
        hardware=replica.hardware,
        tp=replica.tp,
        region=replica.region,
        version=replica.version,
        labels=replica.labels,
        price=replica.price,
        workers=tuple(map(_opinion, known)),
        purpose=replica.purpose,
    )


def _state(held: HeldState, health: Health, in_flight: int) -> State:
    if held.is_leaving:
        return State.LEAVING
    if held.is_restarting:
        return State.RESTARTING
    if held.is_drained:
        return State.DRAINING if in_flight else State.DRAINED
    return State(health.value)


def _freshest(seen: list[ReplicaSeen]) -> tuple[EngineLoad | None, float | None]:
    aged = [(one.load_age_s, one.load) for one in seen if one.load is not None and one.load_age_s is not None]
    if not aged:
        return None, None
    age_s, load = min(aged, key=lambda pair: pair[0])
    return load, age_s


def _opinion(known: _Known) -> WorkerOpinion:
    view, seen, standing = known
    ejected_until_s = None if standing is None else standing.ejected_until_s
    return WorkerOpinion(
        worker=view.name,
        health=seen.health,
        obstacle=None if standing is None else standing.obstacle,
        breaker=None if standing is None else standing.breaker,
        ejected_for_s=None if ejected_until_s is None else max(0.0, ejected_until_s - view.at_s),
        in_flight=view.in_flight_by_replica.get(seen.id, 0),
        in_flight_limit=None if standing is None else standing.in_flight_limit,
    )
