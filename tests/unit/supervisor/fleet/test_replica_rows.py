"""Several workers' views become one page."""

from heterodyne.console.fleet.pages import ReplicaCondition
from heterodyne.control.problems import ProblemKind, ReplicaProblem
from heterodyne.control.replica_seen import FleetSeen, ReplicaSeen
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Health, PoolName, Replica, ReplicaId
from heterodyne.routing.health.breaker import BreakerState
from heterodyne.routing.health.snapshot import FleetHealthSnapshot, Obstacle, ReplicaHealthSnapshot
from heterodyne.supervisor.fleet.reconcile import FleetMember
from heterodyne.supervisor.fleet.replica_rows import ManagedReplicaState, replica_rows, worst_health
from heterodyne.supervisor.workers.view import WorkerView

ID = ReplicaId("p-0")
REPLICA = Replica(id=ID, pool=PoolName("p"), model="m", engine="vllm", host="h", port=1, hardware="h100")


def managed_state(**more: object) -> ManagedReplicaState:
    fields = {
        "member": FleetMember(replica=REPLICA),
        "is_drained": False,
        "is_leaving": False,
        "is_restarting": False,
        "process_restarts": None,
    }
    return ManagedReplicaState(**{**fields, **more})  # type: ignore[arg-type]


def view(
    name: str = "worker-0",
    *,
    health: Health = Health.READY,
    in_flight: int = 0,
    running: int = 0,
    load_age_s: float = 1.0,
    problem: str | None = None,
    standing: ReplicaHealthSnapshot | None = None,
) -> WorkerView:
    seen = ReplicaSeen(
        id=ID,
        pool=REPLICA.pool,
        model="m",
        engine="vllm",
        url="http://h:1",
        health=health,
        health_for_s=1.0,
        is_draining=False,
        looked_ago_s=0.1,
        probe_ms=1.0,
        error=None,
        context_tokens=None,
        adapters=(),
        serves=("m",),
        load=EngineLoad(running=running),
        load_age_s=load_age_s,
        restarts=2,
        problems=() if problem is None else (ReplicaProblem(kind=ProblemKind.NOT_READY, text=problem),),
    )
    return WorkerView(
        name=name,
        pid=1,
        version=3,
        at_s=100.0,
        fleet=FleetSeen(version=1, interval_s=2.0, replicas=(seen,)),
        health=FleetHealthSnapshot(models=(), replicas=(standing,) if standing else (), ejections_refused={}),
        in_flight=in_flight,
        in_flight_by_replica={ID: in_flight} if in_flight else {},
    )


def test_work_is_summed_the_freshest_load_counts_and_problems_are_said_once() -> None:
    views = [
        view("worker-0", in_flight=2, running=5, load_age_s=1.5, problem="x"),
        view("worker-1", in_flight=3, running=7, load_age_s=0.2, problem="x"),
    ]
    [row] = replica_rows([managed_state()], views)
    assert (row.in_flight, row.problems, row.restarts) == (5, ("x",), 2)
    assert row.load is not None
    assert (row.load.running, row.load_age_s) == (7, 0.2)
    assert [one.worker for one in row.workers] == ["worker-0", "worker-1"]


def test_where_workers_disagree_the_worst_is_shown() -> None:
    [row] = replica_rows([managed_state()], [view(), view("worker-1", health=Health.DOWN)])
    assert (row.health, row.state) == (Health.DOWN, ReplicaCondition.DOWN)
    assert worst_health([Health.READY, Health.STARTING]) is Health.STARTING


def test_a_replica_no_worker_has_seen_is_starting() -> None:
    [row] = replica_rows([managed_state()], [])
    assert (row.state, row.in_flight, row.load, row.workers) == (ReplicaCondition.STARTING, 0, None, ())


def test_what_is_wanted_goes_over_what_is_seen() -> None:
    busy, idle = [view(in_flight=1)], [view()]
    assert replica_rows([managed_state(is_drained=True)], busy)[0].state is ReplicaCondition.DRAINING
    assert replica_rows([managed_state(is_drained=True)], idle)[0].state is ReplicaCondition.DRAINED
    assert replica_rows([managed_state(is_restarting=True)], busy)[0].state is ReplicaCondition.RESTARTING
    assert replica_rows([managed_state(is_leaving=True, is_drained=True)], busy)[0].state is ReplicaCondition.LEAVING


def test_the_standing_of_each_worker_is_told_with_what_is_left_of_an_ejection() -> None:
    standing = ReplicaHealthSnapshot(
        replica=ID,
        obstacle=Obstacle.EJECTED,
        breaker=BreakerState.CLOSED,
        weight=1.0,
        in_flight=0,
        in_flight_limit=12,
        failures_in_a_row=5,
        ejected_until_s=112.5,
        ejections=1,
        breaker_opened=0,
        ttft_ratio=None,
        outcomes={},
    )
    [row] = replica_rows([managed_state(process_restarts=1)], [view(standing=standing)])
    [opinion] = row.workers
    assert (opinion.obstacle, opinion.ejected_for_s, opinion.in_flight_limit) == (Obstacle.EJECTED, 12.5, 12)
    assert row.restarts == 1, "of its own process, where there is one"
