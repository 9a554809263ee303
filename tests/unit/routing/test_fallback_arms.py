"""A request goes to its own side of a rollout, and to the other only where its own is lost."""

import pytest
from msgspec import structs

from heterodyne.domain.errors import EnginesFull
from heterodyne.domain.fleet import Health, PoolName, Replica
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.routing.arms import Arm, Side
from heterodyne.routing.health.outcome import Outcome
from tests.unit.routing.test_fallback import Rig, fleet, replica

SPLIT = RolloutSplit(rollout="r", candidate_pools=("new",), baseline_pools=("old",), share=0.5)
CANDIDATE, BASELINE = Arm(SPLIT, Side.CANDIDATE), Arm(SPLIT, Side.BASELINE)


def member(name: str, pool: str, **fields: object) -> Replica:
    return structs.replace(replica(name), pool=PoolName(pool), **fields)


def test_each_side_has_its_own_replicas() -> None:
    rig = Rig(fleet(member("a", "old"), member("b", "old"), member("c", "new")))
    assert {rig.decide(arm=BASELINE).target.id for _ in range(5)} <= {"a", "b"}
    assert rig.decide(arm=CANDIDATE).target.id == "c"
    rig.fill("a", 3)
    assert rig.decide(arm=BASELINE).target.id == "b"


def test_a_side_that_is_lost_gives_its_requests_to_the_other() -> None:
    rig = Rig(fleet(member("a", "old"), member("c", "new", health=Health.DOWN)))
    assert rig.decide(arm=CANDIDATE).target.id == "a"
    rig = Rig(fleet(member("a", "old", health=Health.DOWN), member("c", "new")))
    assert rig.decide(arm=BASELINE).target.id == "c"


def test_what_its_own_side_failed_the_other_answers() -> None:
    rig = Rig(fleet(member("a", "old"), member("c", "new"), member("d", "new")))
    assert rig.decide(arm=CANDIDATE, failed=("c",)).target.id == "d"
    assert rig.decide(arm=CANDIDATE, failed=("c", "d")).target.id == "a"


def test_a_candidate_does_not_get_more_because_the_baseline_is_busy() -> None:
    rig = Rig(fleet(member("a", "old", in_flight_max=2), member("c", "new")))
    health = rig.fleet_health.of(rig.selector.snapshot.replicas[0].id)
    for _ in range(2):
        health.on_start(0.0, 10)
    with pytest.raises(EnginesFull):
        rig.decide(arm=BASELINE)


def test_a_busy_side_elsewhere_is_not_waited_for_by_those_that_are_held_to_regions() -> None:
    rig = Rig(fleet(member("a", "old", in_flight_max=2, region="us"), member("c", "new", region="eu")))
    health = rig.fleet_health.of(rig.selector.snapshot.replicas[0].id)
    health.on_start(0.0, 10)
    health.on_start(0.0, 10)
    with pytest.raises(EnginesFull):
        rig.decide(arm=BASELINE)
    assert rig.decide(arm=BASELINE, regions=frozenset(("eu",))).target.id == "c"
    assert rig.decide(arm=BASELINE, among=frozenset(("c",))).target.id == "c"


def test_a_candidate_whose_breaker_is_open_counts_as_lost() -> None:
    rig = Rig(fleet(member("a", "old"), member("b", "old"), member("c", "new")))
    health = rig.fleet_health.of(rig.selector.snapshot.replicas[2].id)
    for _ in range(50):
        health.on_end(Outcome.ENGINE_FAILED, 0.0, health.on_start(0.0, 10))
    assert rig.decide(arm=CANDIDATE).target.id in ("a", "b")


def test_a_control_group_is_left_alone_until_the_others_are_full() -> None:
    split = structs.replace(SPLIT, share=0.01, candidate_replicas=("c",), control_replicas=("a",))
    candidate, control, others = (Arm(split, side) for side in (Side.CANDIDATE, Side.CONTROL, Side.BASELINE))
    rig = Rig(fleet(member("a", "old"), member("b", "old", in_flight_max=2), member("c", "new"), member("d", "new")))
    for _ in range(5):
        assert rig.decide(arm=candidate).target.id == "c"
        assert rig.decide(arm=control).target.id == "a"
        assert rig.decide(arm=others).target.id == "b"
    assert rig.decide(arm=control, failed=("a",)).target.id == "b"
    health = rig.fleet_health.of(rig.selector.snapshot.replicas[1].id)
    for _ in range(2):
        health.on_start(0.0, 10)
    assert rig.decide(arm=others).target.id == "a", "no user waits for a comparison"
