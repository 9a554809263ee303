"""Replicas that compute prompts for others are judged as all others are, and nobody panics over them."""

from heterodyne.domain.fleet import FleetSnapshot, Health, ModelRule, PoolName, Replica, ReplicaId
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.settings import RoutingSettings
from tests.support.replica_states import even, replica

ANSWERS = replica("answers")


def prefill(name: str, **facts: object) -> Replica:
    return replica(name, "prompts", role=ReplicaRole.PREFILL, **facts)


def health(*replicas: Replica) -> FleetHealth:
    return FleetHealth(RoutingSettings(), FleetSnapshot.of(1, replicas), 0.0)


def fail(fleet: FleetHealth, name: str, outcome: Outcome = Outcome.CONNECT_FAILED, *, times: int = 5) -> None:
    for _ in range(times):
        one = fleet.of(ReplicaId(name))
        one.on_end(outcome, 0.0, one.on_start(0.0, 0))


def out(fleet: FleetHealth, now_s: float = 0.0) -> list[str]:
    return sorted(fleet.prefill_out("m", now_s, even))


def test_one_that_fails_is_out_and_comes_back_with_little() -> None:
    fleet = health(ANSWERS, prefill("a"), prefill("b"))
    assert out(fleet) == []
    fail(fleet, "a")
    assert out(fleet) == ["a"]
    assert out(fleet, 29.0) == ["a"]
    assert out(fleet, 31.0) == ["a"], "half of the chance is more than a tenth of the share"
    assert fleet.of(ReplicaId("a")).weight(31.0) == 0.1
    assert out(fleet, 50.0) == []


def test_all_of_them_may_be_out_at_once() -> None:
    fleet = health(ANSWERS, prefill("a"), prefill("b"))
    fail(fleet, "a")
    fail(fleet, "b")
    assert out(fleet) == ["a", "b"]
    alone = health(ANSWERS, prefill("a"))
    fail(alone, "a")
    assert out(alone) == ["a"]


def test_a_probe_ends_an_ejection_early_as_of_any_other() -> None:
    fleet = health(ANSWERS, prefill("a"))
    fail(fleet, "a")
    fleet.on_probe(ReplicaId("a"), 5.0)
    assert out(fleet, 25.0) == ["a"]
    fleet.on_probe(ReplicaId("a"), 12.0)
    assert fleet.of(ReplicaId("a")).may_take(12.0) is None


def test_one_that_is_busy_is_left_alone_for_a_moment_and_not_ejected() -> None:
    fleet = health(ANSWERS, prefill("a"))
    fail(fleet, "a", Outcome.REFUSED_BUSY, times=1)
    assert out(fleet) == ["a"]
    assert out(fleet, 10.0) == []


def test_what_happens_to_them_is_nothing_to_those_that_answer() -> None:
    fleet = health(ANSWERS, prefill("a"))
    fail(fleet, "a")
    model = fleet.snapshot(0.0).models
    assert [(one.usable, one.known, one.is_panicking) for one in model] == [(1, 1, False)]


def test_a_model_that_its_rule_takes_all_replicas_from_gets_them_back() -> None:
    replicas = (ANSWERS, prefill("a"))
    fleet = health(*replicas)
    nothing = {"m": ModelRule(pools=(PoolName("elsewhere"),))}
    fleet.publish(FleetSnapshot.of(2, replicas, nothing), 1.0)
    assert (fleet.usable("m", 1.0), out(fleet, 1.0)) == ((), [])
    fail(fleet, "a")
    fleet.publish(FleetSnapshot.of(3, replicas), 2.0)
    assert ([one.id for one in fleet.usable("m", 2.0)], out(fleet, 2.0)) == (["answers"], ["a"])


def test_one_whose_role_changes_begins_anew() -> None:
    fleet = health(ANSWERS, prefill("a"))
    fail(fleet, "a")
    fleet.publish(FleetSnapshot.of(2, (ANSWERS, replica("a", "prompts", health=Health.READY))), 1.0)
    assert [one.id for one in fleet.usable("m", 1.0)] == ["answers", "a"]
