"""The count that is wanted of a pool, and what comes and goes of it without being asked."""

from msgspec import structs

from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.fleet.hosts.placed_replicas import NOTICE_S, SILENT_S, PlacedReplicas
from heterodyne.fleet.hosts.platform import CommandReplica
from tests.support.host_benches import placed_pool


def one(id: str, **said: object) -> CommandReplica:
    return CommandReplica(id=id, place=f"gpu-a:{id}", host="gpu-a", port=1, **said)  # type: ignore[arg-type]


def begun(*ids: str) -> PlacedReplicas:
    """With these, ready since the start."""
    pool = PlacedReplicas(placed_pool("ssh", ssh_hosts={"gpu-a": 4}))
    pool.see([one(id) for id in ids], 0.0)
    for id in ids:
        pool.ready(id, 0.0)
    return pool


def ids(pool: PlacedReplicas, stage: ReplicaStage = ReplicaStage.READY) -> list[str]:
    return [found.id for found in pool.told(0.0).replicas if found.stage is stage]


def test_a_gateway_that_begins_wants_what_runs() -> None:
    pool = begun("a", "b")
    assert (pool.wanted, pool.missing(0.0)) == (2, 0)


def test_where_nothing_runs_the_first_are_wanted() -> None:
    pool = begun()
    assert (pool.wanted, pool.missing(0.0)) == (1, 1)


def test_what_somebody_else_started_is_wanted_too() -> None:
    pool = begun("a")
    pool.see([one("a"), one("b")], 1.0)
    assert pool.wanted == 2


def test_what_was_started_from_here_without_an_answer_is_not_somebody_elses() -> None:
    pool = begun("a")
    pool.ask(2, ())
    pool.refused("no answer", 0.0)
    pool.see([one("a"), one("b", is_ours=True)], 1.0)
    assert (pool.wanted, pool.missing(100.0)) == (2, 0)


def test_what_somebody_ended_on_purpose_is_not_started_again() -> None:
    pool = begun("a", "b")
    pool.see([one("a"), one("b", is_cancelled=True)], 1.0)
    assert (pool.wanted, pool.missing(100.0)) == (1, 0)


def test_what_died_is_replaced_and_the_next_says_why() -> None:
    pool = begun("a")
    [ended] = pool.see([one("a", is_ended=True, problem="out of memory")], 100.0)
    assert (ended.id, pool.wanted, pool.missing(100.0)) == ("a", 1, 1)
    pool.started(CommandReplica(id="b", place="gpu-a:b"), 100.0)
    [new] = pool.told(100.0).replicas
    assert new.stage is ReplicaStage.PENDING
    assert new.problem == "gpu-a:b: in place of a, gpu-a:a: out of memory"


def test_what_dies_again_and_again_is_replaced_later_each_time() -> None:
    pool = begun()
    pauses = []
    now_s = 0.0
    for life in range(9):
        while not pool.missing(now_s):
            now_s += 0.5
        pool.started(one(f"r{life}"), now_s)
        pool.see([one(f"r{life}", is_ended=True)], now_s)
        began_s = now_s
        while not pool.missing(now_s):
            now_s += 0.5
        pauses.append(now_s - began_s)
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_a_machine_that_is_silent_for_a_while_keeps_its_replica() -> None:
    pool = begun("a")
    pool.see([one("a", is_silent=True)], 0.0)
    pool.see([one("a", is_silent=True)], SILENT_S - 1.0)
    assert (ids(pool), pool.missing(SILENT_S)) == (["a"], 0)
    pool.see([one("a")], SILENT_S)
    pool.see([one("a", is_silent=True)], SILENT_S + 1.0)
    assert ids(pool) == ["a"]


def test_a_machine_that_stays_silent_is_replaced_and_what_it_brings_back_leaves() -> None:
    pool = begun("a")
    for now_s in (0.0, SILENT_S + 1.0):
        pool.see([one("a", is_silent=True, problem="no route")], now_s)
    assert (pool.wanted, pool.missing(1000.0)) == (1, 1)
    pool.started(one("b", is_ours=True), 1000.0)
    pool.see([one("a", is_silent=True), one("b", is_ours=True)], 1001.0)
    pool.see([one("a"), one("b", is_ours=True)], 1002.0)
    assert pool.wanted == 1
    assert [left.id for left in pool.to_stop()] == ["a"]


def test_those_that_were_drained_leave_first_then_those_that_only_come() -> None:
    pool = begun("a", "b")
    pool.ask(3, ())
    pool.started(one("c"), 5.0)
    pool.ask(1, (ReplicaId("a"),))
    pool.trim()
    assert (ids(pool), sorted(ids(pool, ReplicaStage.DRAINING))) == (["b"], ["a", "c"])


def test_a_replica_that_is_not_ready_in_time_leaves_and_another_comes() -> None:
    pool = begun()
    pool.started(one("a"), 0.0)
    pool.see([one("a", is_ours=True)], 0.0)
    pool.give_up_late(19.0)
    assert not pool.to_stop()
    pool.give_up_late(21.0)
    assert [left.id for left in pool.to_stop()] == ["a"]
    assert pool.missing(100.0) == 1


def test_the_time_that_a_job_waits_for_a_machine_is_not_its_start() -> None:
    pool = begun()
    waits = structs.replace(one("a", is_ours=True), host=None)
    pool.started(waits, 0.0)
    pool.see([waits], 10_000.0)
    pool.give_up_late(10_000.0)
    assert not pool.to_stop()


def test_what_has_little_time_left_is_taken_away() -> None:
    pool = begun("a")
    pool.see([one("a", left_s=NOTICE_S + 1.0)], 0.0)
    assert pool.told(0.0).replicas[0].taken_at_s is None
    pool.see([one("a", left_s=300.0)], 700.0)
    assert pool.told(700.0).replicas[0].taken_at_s == 1000.0
