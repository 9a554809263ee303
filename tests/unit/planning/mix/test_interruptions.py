"""Spot capacity that is taken back."""

from random import Random

import pytest
from msgspec import structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.interruptions import SURE, Interruptions, hourly_usd, rented, serving_usd, spares
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind, TrafficBucket

SPOT = ReplicaKind(name="spot", usd_per_hour=1.0, requests_per_s={"a": 1.0}, is_spot=True)
SURE_KIND = ReplicaKind(name="on demand", usd_per_hour=1.3, requests_per_s={"a": 1.0})


def test_a_replica_is_missing_as_long_as_it_takes_to_have_another() -> None:
    assert Interruptions(per_day=24, recovery_min=60).missing_share == pytest.approx(0.5)
    assert Interruptions(per_day=1, recovery_min=14.4).missing_share == pytest.approx(0.01 / 1.01)
    assert Interruptions(per_day=0, recovery_min=60).missing_share == 0.0


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidSpec, match="spot-interruptions"):
        _ = Interruptions(per_day=-1, recovery_min=10).missing_share


def test_with_the_spares_enough_are_there_almost_always() -> None:
    chance = Random(5)
    for replicas, missing in ((1, 0.05), (4, 0.02), (10, 0.1), (40, 0.03)):
        more = spares(replicas, missing)
        there = [sum(chance.random() >= missing for _ in range(replicas + more)) >= replicas for _ in range(20_000)]
        assert sum(there) / len(there) > SURE - 0.005
        without = [
            sum(chance.random() >= missing for _ in range(replicas + more - 1)) >= replicas for _ in range(20_000)
        ]
        assert sum(without) / len(without) < SURE + 0.005


def test_what_is_never_taken_needs_no_spares() -> None:
    assert spares(9, 0.0) == 0
    assert rented(SPOT, 9) == 9
    assert serving_usd(SPOT) == 1.0


def test_spares_are_paid_for() -> None:
    shaky = structs.replace(SPOT, missing_share=0.1)
    assert hourly_usd({"spot": shaky}, {"spot": 2}) == 2 + spares(2, 0.1)


def test_spot_capacity_that_is_taken_often_is_dearer_than_what_stays() -> None:
    bucket = TrafficBucket(name="a", requests_per_s=20.0)
    problem = MixProblem(buckets=(bucket,), kinds=(SPOT, SURE_KIND), headroom=0.0)
    assert cheapest_mix(problem).replicas == {"spot": 20}
    shaky = structs.replace(problem, kinds=(structs.replace(SPOT, missing_share=0.3), SURE_KIND))
    assert cheapest_mix(shaky).replicas == {"on demand": 20}


def test_no_more_are_rented_than_there_are() -> None:
    few = structs.replace(SPOT, missing_share=0.05, available=10)
    bucket = TrafficBucket(name="a", requests_per_s=20.0)
    plan = cheapest_mix(MixProblem(buckets=(bucket,), kinds=(few, SURE_KIND), headroom=0.0))
    assert 0 < rented(few, plan.replicas["spot"]) <= 10
    assert plan.usd_per_hour == pytest.approx(rented(few, plan.replicas["spot"]) + 1.3 * plan.replicas["on demand"])


def test_one_kind_of_spot_is_rented_where_two_would_each_need_spares() -> None:
    shaky = structs.replace(SPOT, missing_share=0.02)
    other = structs.replace(shaky, name="other", usd_per_hour=0.99, available=2)
    bucket = TrafficBucket(name="a", requests_per_s=4.0)
    plan = cheapest_mix(MixProblem(buckets=(bucket,), kinds=(shaky, other), headroom=0.0))
    assert plan.replicas == {"spot": 4}
