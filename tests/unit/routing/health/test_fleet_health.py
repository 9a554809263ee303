"""The whole fleet: who may be asked, and who is remembered."""

import msgspec
import pytest

from heterodyne.domain.fleet import FleetSnapshot, Health, PoolName, Replica, ReplicaId
from heterodyne.domain.provider_limit import TOKENS, ProviderLimit, ToldLimits
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.settings import RoutingSettings

READY, DOWN, STARTING = Health.READY, Health.DOWN, Health.STARTING


def replica(name: str, pool: str = "p", health: Health = READY) -> Replica:
    return Replica(id=ReplicaId(name), pool=PoolName(pool), model="m", engine="openai", host="h", port=1, health=health)


def pool_of(count: int) -> tuple[Replica, ...]:
    return tuple(replica(f"r{number}") for number in range(count))


def fleet_health(*replicas: Replica, settings: RoutingSettings | None = None) -> FleetHealth:
    return FleetHealth(settings or RoutingSettings(), FleetSnapshot.of(1, replicas), 0.0)


def break_it(fleet: FleetHealth, name: str, now_s: float = 0.0, times: int = 10) -> None:
    for _ in range(times):
        one = fleet.of(ReplicaId(name))
        one.on_end(Outcome.BROKE, now_s, one.on_start(now_s, 0))


def names(fleet: FleetHealth, now_s: float = 0.0) -> list[str]:
    return [one.id for one in fleet.usable("m", now_s)]


def test_when_all_is_well_everybody_ready_is_usable() -> None:
    fleet = fleet_health(replica("a"), replica("b", health=DOWN), replica("c", health=STARTING), replica("d"))
    assert names(fleet) == ["a", "d"]


def test_a_model_nobody_serves_has_no_replicas() -> None:
    assert fleet_is_empty(fleet_health(replica("a")))


def fleet_is_empty(fleet: FleetHealth) -> bool:
    return not fleet.usable("other", 0.0) and not fleet.try_retry("other", 1, 0.0) and not fleet.try_hedge("other")


def test_an_ejected_replica_is_left_out_and_comes_back() -> None:
    fleet = fleet_health(*pool_of(4))
    break_it(fleet, "r1", times=5)
    assert names(fleet) == ["r0", "r2", "r3"]
    assert names(fleet, 30.0) == ["r0", "r1", "r2", "r3"]
    assert fleet.of(ReplicaId("r1")).weight(30.0) == 0.1


def test_the_list_is_the_same_object_while_the_same_replicas_are_left_out() -> None:
    fleet = fleet_health(*pool_of(4))
    everybody = fleet.usable("m", 0.0)
    break_it(fleet, "r1", times=5)
    left = fleet.usable("m", 0.0)
    assert fleet.usable("m", 1.0) is left
    break_it(fleet, "r3", times=10)
    assert [one.id for one in fleet.usable("m", 1.0)] == ["r0", "r2"]
    assert [one.id for one in left] == ["r0", "r2", "r3"], "whoever has a list keeps it as it was"
    assert fleet.usable("m", 100.0) is everybody


def test_those_in_their_slow_start_are_known_with_their_weights() -> None:
    fleet = fleet_health(replica("a"), replica("b", health=DOWN), replica("c"))
    model = fleet.try_model("m")
    assert model is not None
    assert model.slow(0.0) == []
    fleet.publish(FleetSnapshot.of(2, (replica("a"), replica("b"), replica("c"))), 100.0)
    assert model.slow(115.0) == [("b", 0.5)]
    assert model.slow(131.0) == []
    assert model.recovering == 0


def test_breakers_leave_out_more_than_ejection_may() -> None:
    fleet = fleet_health(*pool_of(4))
    break_it(fleet, "r1")
    break_it(fleet, "r2")
    assert names(fleet) == ["r0", "r3"]
    assert fleet.snapshot(0.0).ejections_refused == {"p": 6}


def test_below_half_the_fleet_everybody_ready_is_asked() -> None:
    fleet = fleet_health(*pool_of(4), replica("down", health=DOWN))
    for name in ("r1", "r2"):
        break_it(fleet, name)
    assert names(fleet) == ["r0", "r1", "r2", "r3"]  # two of five are left
    (seen,) = fleet.snapshot(0.0).models
    assert (seen.is_panicking, seen.panics, seen.known) == (True, 1, 5)


def test_a_panic_ends_when_the_replicas_are_well() -> None:
    fleet = fleet_health(*pool_of(2))
    for name in ("r0", "r1"):
        break_it(fleet, name)
    assert len(names(fleet)) == 2
    for name in ("r0", "r1"):
        one = fleet.of(ReplicaId(name))
        one.on_end(Outcome.SUCCESS, 5.0, one.on_start(5.0, 0))
    assert len(names(fleet, 31.0)) == 2
    assert not fleet.snapshot(31.0).models[0].is_panicking


def test_without_a_panic_share_a_failing_model_is_refused_at_once() -> None:
    fleet = fleet_health(replica("a"), settings=RoutingSettings(panic_share=0))
    break_it(fleet, "a")
    assert names(fleet) == []
    assert names(fleet, 5.0) == ["a"]


def test_a_pool_of_one_that_fails_is_left_out_where_another_pool_serves_the_model() -> None:
    fleet = fleet_health(replica("lone", pool="small"), *pool_of(4))
    break_it(fleet, "lone")
    assert names(fleet) == ["r0", "r1", "r2", "r3"]


def test_full_replicas_are_left_out_even_in_a_panic() -> None:
    fleet = fleet_health(*pool_of(2), settings=RoutingSettings(concurrency_max=1, concurrency_min=1))
    for name in ("r0", "r1"):
        break_it(fleet, name)
    fleet.of(ReplicaId("r0")).on_start(0.0, 10)
    assert names(fleet) == ["r1"]


def test_who_leaves_the_fleet_is_forgotten_and_may_still_finish() -> None:
    fleet = fleet_health(*pool_of(3))
    leaving = fleet.of(ReplicaId("r1"))
    break_it(fleet, "r1")
    trial = leaving.on_start(0.0, 10)
    fleet.publish(FleetSnapshot.of(2, (replica("r0"), replica("r2"))), 1.0)
    leaving.on_first_token(2.0, 1.0, 1.0, trial)
    leaving.on_end(Outcome.BROKE, 2.0, trial)
    assert (names(fleet, 2.0), leaving.in_flight) == (["r0", "r2"], 0)
    assert [one.replica for one in fleet.snapshot(2.0).replicas] == ["r0", "r2"]
    assert fleet.usable("m", 2.0) is fleet.usable("m", 2.0)  # nothing is left that needs a look


def test_a_replica_that_moves_to_another_pool_starts_afresh() -> None:
    fleet = fleet_health(*pool_of(2))
    break_it(fleet, "r0")
    fleet.publish(FleetSnapshot.of(2, (replica("r0", pool="q"), replica("r1"))), 1.0)
    assert names(fleet, 1.0) == ["r0", "r1"]


def test_a_replica_that_was_down_starts_slowly_and_one_that_was_always_up_does_not() -> None:
    fleet = fleet_health(replica("a"), replica("b", health=DOWN))
    fleet.publish(FleetSnapshot.of(2, (replica("a"), replica("b"))), 100.0)
    assert fleet.of(ReplicaId("a")).weight(100.0) == 1.0
    assert fleet.of(ReplicaId("b")).weight(100.0) == 0.1
    assert fleet.of(ReplicaId("b")).weight(130.0) == 1.0


def test_replicas_that_the_first_look_finds_ready_were_up_before_us_and_get_their_whole_share() -> None:
    fleet = fleet_health(replica("a", health=STARTING), replica("b", health=STARTING))
    fleet.publish(FleetSnapshot.of(2, (replica("a"), replica("b", health=STARTING))), 1.0)
    fleet.publish(FleetSnapshot.of(3, (replica("a"), replica("b"))), 1.5)
    assert [fleet.of(ReplicaId(name)).weight(1.5) for name in ("a", "b")] == [1.0, 1.0]
    model = fleet.try_model("m")
    assert model is not None
    assert model.recovering == 0


def test_a_replica_that_was_not_ready_at_the_first_look_starts_slowly() -> None:
    fleet = fleet_health(replica("a", health=STARTING), replica("b", health=STARTING))
    fleet.on_failed_probe(ReplicaId("b"))
    fleet.publish(FleetSnapshot.of(2, (replica("a"), replica("b"))), 1.0)
    assert [fleet.of(ReplicaId(name)).weight(1.0) for name in ("a", "b")] == [1.0, 0.1]


def test_a_replica_that_goes_down_after_its_first_look_starts_slowly() -> None:
    fleet = fleet_health(replica("a", health=STARTING), replica("b", health=STARTING))
    for version, health in enumerate((READY, DOWN, READY), 2):
        fleet.publish(FleetSnapshot.of(version, (replica("a"), replica("b", health=health))), float(version))
    assert fleet.of(ReplicaId("b")).weight(4.0) == 0.1


def test_a_replica_that_serves_another_model_at_first_starts_slowly_when_it_serves_ours() -> None:
    fleet = fleet_health(replica("a", health=STARTING), replica("b", health=STARTING))
    for version, health in enumerate((DOWN, READY), 2):
        fleet.publish(FleetSnapshot.of(version, (replica("a"), replica("b", health=health))), float(version))
    assert fleet.of(ReplicaId("b")).weight(3.0) == 0.1


def test_a_replica_that_joins_a_running_gateway_starts_slowly() -> None:
    fleet = fleet_health(replica("a", health=STARTING))
    fleet.publish(FleetSnapshot.of(2, (replica("a"), replica("b", health=STARTING))), 1.0)
    fleet.publish(FleetSnapshot.of(3, (replica("a"), replica("b"))), 2.0)
    assert [fleet.of(ReplicaId(name)).weight(2.0) for name in ("a", "b")] == [1.0, 0.1]


def test_first_attempts_pay_for_retries_and_hedges_and_second_ones_do_not() -> None:
    settings = RoutingSettings(retry_reserve_tokens_per_s=0)
    fleet = fleet_health(*pool_of(2), settings=settings)
    one = fleet.of(ReplicaId("r0"))
    for _ in range(40):
        one.on_end(Outcome.SUCCESS, 1.0, one.on_start(1.0, 0))
    assert not fleet.try_retry("m", 1, 1.0)
    assert not fleet.try_hedge("m")
    for _ in range(40):
        one.on_end(Outcome.SUCCESS, 1.0, one.on_start(1.0, 1000))
    assert fleet.try_retry("m", 8000, 1.0)
    assert not fleet.try_retry("m", 1, 1.0)
    assert fleet.try_hedge("m")


def test_a_probe_of_a_replica_nobody_knows_is_ignored() -> None:
    fleet = fleet_health(*pool_of(2))
    break_it(fleet, "r0", times=5)
    fleet.on_probe(ReplicaId("gone"), 10.0)
    fleet.on_probe(ReplicaId("r0"), 10.0)
    assert names(fleet, 10.0) == ["r0", "r1"]


def hold(fleet: FleetHealth, name: str, requests: int) -> None:
    for _ in range(requests):
        fleet.of(ReplicaId(name)).on_start(0.0, 10)


def test_a_learned_limit_sends_work_elsewhere_and_never_away() -> None:
    settings = RoutingSettings(concurrency_min=2, concurrency_initial=2, concurrency_max=2)
    fleet = fleet_health(replica("a"), replica("b"), settings=settings)
    hold(fleet, "a", 2)
    assert names(fleet) == ["b"]
    hold(fleet, "b", 2)
    assert names(fleet) == ["a", "b"], "an engine's own queue is better than a refusal"


def test_what_an_operator_allows_is_kept_strictly() -> None:
    strict = msgspec.structs.replace(replica("a"), in_flight_max=3)
    fleet = fleet_health(strict)
    hold(fleet, "a", 2)
    assert names(fleet) == ["a"]
    hold(fleet, "a", 1)
    assert names(fleet) == []
    fleet.of(ReplicaId("a")).on_end(Outcome.SUCCESS, 1.0)
    assert names(fleet, 1.0) == ["a"]


def test_an_allowance_lowered_below_what_runs_holds_at_once() -> None:
    fleet = fleet_health(msgspec.structs.replace(replica("a"), in_flight_max=3), replica("b"))
    hold(fleet, "a", 2)
    fleet.publish(FleetSnapshot.of(2, (msgspec.structs.replace(replica("a"), in_flight_max=1), replica("b"))), 1.0)
    assert names(fleet, 1.0) == ["b"]


def test_a_rate_limit_sends_work_elsewhere_and_where_there_is_no_other_it_is_waited_for() -> None:
    fleet = fleet_health(*pool_of(2))
    for name in ("r0", "r1"):
        told = ToldLimits((ProviderLimit(TOKENS, 50, 1000, 19.0),))
        fleet.of(ReplicaId(name)).on_limits(told, 0.0, is_refusal=False)
        model = fleet.try_model("m")
        assert model is not None
        assert len(model.usable(0.0, 50)) == 2
        assert len(model.usable(0.0, 80)) == (1 if name == "r0" else 0)
    assert model.is_full
    assert model.rate_limit_wait_s == pytest.approx(0.6)
    assert not model.panic.is_on
    assert len(model.usable(1.0, 80)) == 2
    assert not model.is_full
