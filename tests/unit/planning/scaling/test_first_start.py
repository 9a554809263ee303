"""What a request is told that comes while nothing is ready."""

from math import exp
from random import Random

import pytest
from msgspec import structs

from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.planning.scaling.capacity import CapacityCurve
from heterodyne.planning.scaling.cold_start import ColdStarts
from heterodyne.planning.scaling.first_start import first_start
from heterodyne.planning.scaling.limits import PoolLimits, ScalingRules
from heterodyne.planning.scaling.observation import Observation, PoolObservation, ScaledReplica
from heterodyne.planning.scaling.state import ScalingState

A, B = PoolName("a"), PoolName("b")
CURVE = CapacityCurve(points=((1, 1.0),), prompt_token=0.001, output_token=0.01, output_tokens=90.0)
RULES = ScalingRules(
    pools=(
        PoolLimits(pool=A, capacity=CURVE, cold_start_s=60.0),
        PoolLimits(pool=B, capacity=CURVE, cold_start_s=200.0),
    )
)


def seen(*replicas: tuple[PoolName, ReplicaStage, float]) -> Observation:
    pools = tuple(
        PoolObservation(
            pool=name,
            replicas=tuple(
                ScaledReplica(id=ReplicaId(f"{pool}-{asked_at_s}"), stage=stage, asked_at_s=asked_at_s)
                for pool, stage, asked_at_s in replicas
                if pool == name
            ),
        )
        for name in (A, B)
    )
    return Observation(at_s=120.0, span_s=10.0, pools=pools)


def told_s(now_s: float, *replicas: tuple[PoolName, ReplicaStage, float]) -> float:
    return first_start(RULES, ScalingState(), seen(*replicas), now_s).wait_s(now_s)


def test_a_wait_counts_from_when_the_first_replica_was_asked_for() -> None:
    assert told_s(120.0) == pytest.approx(60.0), "nothing is asked for yet: the pool that starts sooner"
    assert told_s(120.0, (A, ReplicaStage.WARMING, 110.0)) == pytest.approx(50.0, rel=0.05)
    both = ((A, ReplicaStage.WARMING, 110.0), (A, ReplicaStage.PENDING, 90.0))
    assert told_s(120.0, *both) == pytest.approx(30.0, rel=0.2)


def test_a_pool_that_is_coming_is_waited_for_and_not_one_that_nobody_has_asked_for() -> None:
    assert told_s(120.0, (B, ReplicaStage.WARMING, 100.0)) == pytest.approx(180.0, rel=0.05)
    assert told_s(120.0, (B, ReplicaStage.WARMING, -60.0), (A, ReplicaStage.WARMING, 119.0)) < 59.0


def test_one_that_drains_is_none_that_comes() -> None:
    assert first_start(RULES, ScalingState(), seen((A, ReplicaStage.DRAINING, 0.0)), 120.0).asked_at_s is None


def test_the_first_cold_starts_that_are_measured_count_for_more_than_what_was_said() -> None:
    starts = ColdStarts(said_s=60.0)
    assert starts.next.usual_s == pytest.approx(60.0)
    once, often = starts.with_measured((120.0,)), starts.with_measured((120.0, 121.0, 119.0, 120.0))
    assert 90.0 < once.next.usual_s < 120.0
    assert often.next.usual_s == pytest.approx(120.0, rel=0.05)
    assert often.next.spread < once.next.spread < starts.next.spread


def test_a_start_that_went_wrong_says_little_of_the_next() -> None:
    usual = ColdStarts(said_s=120.0, measured_s=(118.0, 125.0, 121.0, 117.0, 130.0))
    with_one = usual.with_measured((2400.0,))
    assert with_one.next.usual_s < 1.2 * usual.next.usual_s


def test_spread_is_learned() -> None:
    chance = Random(3)
    for spread in (0.03, 0.3):
        drawn = tuple(100.0 * exp(chance.gauss(0.0, spread)) for _ in range(30))
        assert ColdStarts(said_s=100.0, measured_s=drawn).next.spread == pytest.approx(spread, rel=0.5)
        assert structs.replace(ColdStarts(said_s=50.0), measured_s=drawn).next.usual_s == pytest.approx(100.0, rel=0.25)
