"""Fleets for less around one that is known."""

from collections.abc import Mapping

from msgspec import structs

from heterodyne.planning.mix.cheaper_fleets import LOAD_MAX, cheaper_fleets
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.problem import MixPlan, MixProblem, ReplicaKind, TrafficBucket
from heterodyne.planning.mix.spread_load import with_replicas

SMALL = ReplicaKind(name="small", usd_per_hour=1.0, requests_per_s={"short": 2.0, "long": 1.0})
LARGE = ReplicaKind(name="large", usd_per_hour=3.0, requests_per_s={"short": 6.0, "long": 4.0})
SHORT_ONLY = ReplicaKind(name="short only", usd_per_hour=0.5, requests_per_s={"short": 1.5})
PROBLEM = MixProblem(
    buckets=(TrafficBucket(name="short", requests_per_s=6.0), TrafficBucket(name="long", requests_per_s=3.0)),
    kinds=(SMALL, LARGE, SHORT_ONLY),
    headroom=0.0,
)


def plan_of(problem: MixProblem, replicas: Mapping[str, int]) -> MixPlan:
    return with_replicas(problem, cheapest_mix(problem), dict(replicas))


def test_every_one_costs_less_and_serves_every_bucket() -> None:
    plan = plan_of(PROBLEM, {"large": 2})
    found = cheaper_fleets(PROBLEM, plan)
    assert found
    assert all(one.usd_per_hour < plan.usd_per_hour and one.load < LOAD_MAX for one in found)
    assert all(one.replicas.keys() != {"short only"} for one in found)
    assert {"large": 1, "small": 2} in [one.replicas for one in found]


def test_the_load_is_that_of_the_busiest_kind() -> None:
    [half] = [one for one in cheaper_fleets(PROBLEM, plan_of(PROBLEM, {"large": 3})) if one.replicas == {"large": 2}]
    assert half.load == (6.0 / 6.0 + 3.0 / 4.0) / 2
    assert half.usd_per_hour == 6.0


def test_of_two_at_one_price_the_one_that_carries_more_comes_first() -> None:
    found = cheaper_fleets(PROBLEM, plan_of(PROBLEM, {"large": 3}))
    for price in {one.usd_per_hour for one in found}:
        loads = [one.load for one in found if one.usd_per_hour == price and one.load > 1.0]
        assert loads == sorted(loads)


def test_no_more_is_taken_than_there_is_and_no_less_than_is_wanted() -> None:
    kinds = (structs.replace(SMALL, available=1), structs.replace(LARGE, minimum=1), SHORT_ONLY)
    limited = structs.replace(PROBLEM, kinds=kinds)
    found = cheaper_fleets(limited, plan_of(limited, {"large": 3}))
    assert found
    assert all(one.replicas.get("small", 0) <= 1 and one.replicas.get("large", 0) >= 1 for one in found)


def test_a_kind_that_another_replaces_by_its_rates_is_tried_too() -> None:
    wide = ReplicaKind(name="wide", usd_per_hour=2.5, requests_per_s={"short": 4.0, "long": 2.0})
    problem = structs.replace(PROBLEM, kinds=(SMALL, LARGE, wide))
    assert any("wide" in one.replicas for one in cheaper_fleets(problem, plan_of(problem, {"large": 3})))


def test_a_large_fleet_is_changed_in_some_places_only() -> None:
    crowd = structs.replace(
        PROBLEM, buckets=tuple(structs.replace(one, requests_per_s=one.requests_per_s * 40) for one in PROBLEM.buckets)
    )
    found = cheaper_fleets(crowd, plan_of(crowd, {"large": 80}))
    assert found
    assert all(one.replicas["large"] >= 76 for one in found)
