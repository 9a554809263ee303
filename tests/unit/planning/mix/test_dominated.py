"""Which kinds a mix never needs."""

import random

import pytest
from msgspec import structs

from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.dominated import without_dominated
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind, Stock, TrafficBucket

FAST = ReplicaKind(name="fast", usd_per_hour=2.0, requests_per_s={"a": 4.0, "b": 2.0})
SLOW = ReplicaKind(name="slow", usd_per_hour=2.0, requests_per_s={"a": 3.0})


def names(*kinds: ReplicaKind, stocks: tuple[Stock, ...] = ()) -> list[str]:
    return [kind.name for kind in without_dominated(kinds, stocks)]


def test_a_kind_that_does_less_for_as_much_goes() -> None:
    assert names(SLOW, FAST) == ["fast"]


def test_of_equal_kinds_one_stays() -> None:
    assert len(names(FAST, structs.replace(FAST, name="twin"))) == 1


def test_several_cheap_ones_stand_in_for_a_dear_one() -> None:
    wide = ReplicaKind(name="wide", usd_per_hour=4.0, requests_per_s={"a": 7.9, "b": 4.0})
    assert names(wide, FAST) == ["fast"]
    assert names(structs.replace(wide, requests_per_s={"a": 8.1}), FAST) == ["wide", "fast"]


@pytest.mark.parametrize(
    "kept",
    [
        structs.replace(SLOW, role=ReplicaRole.DECODE),
        structs.replace(SLOW, minimum=1),
        structs.replace(SLOW, stock="owned"),
        structs.replace(SLOW, usd_per_hour=1.0),
    ],
)
def test_a_kind_that_is_wanted_or_different_stays(kept: ReplicaKind) -> None:
    assert names(kept, FAST, stocks=(Stock(name="owned", minimum=2),)) == ["slow", "fast"]


def test_scarce_and_spot_kinds_stand_in_for_nobody_else() -> None:
    assert names(SLOW, structs.replace(FAST, available=9)) == ["slow", "fast"]
    assert names(SLOW, structs.replace(FAST, is_spot=True)) == ["slow", "fast"]
    assert names(SLOW, structs.replace(FAST, stock="few"), stocks=(Stock(name="few", available=3),)) == ["slow", "fast"]


def test_the_cheapest_mix_costs_the_same_without_them() -> None:
    chance = random.Random(7)
    gone = 0
    for _ in range(20):
        buckets = tuple(TrafficBucket(name=name, requests_per_s=chance.uniform(1, 20)) for name in "abc")
        kinds = tuple(
            ReplicaKind(
                name=f"k{index}",
                usd_per_hour=chance.choice([1.0, 2.0, 3.0]),
                requests_per_s={name: chance.uniform(0.5, 4.0) for name in "abc"},
                is_spot=index > 0 and chance.random() < 0.3,
                role=chance.choice(list(ReplicaRole)) if index else ReplicaRole.BOTH,
                available=500,  # more than is ever needed, yet a limit: such a kind stands in for nobody
            )
            for index in range(8)
        )
        whole = MixProblem(buckets=buckets, kinds=kinds, spot_share_max=0.4)
        assert without_dominated(kinds, ()) == kinds
        plenty = tuple(structs.replace(kind, available=None) for kind in kinds)
        fewer = structs.replace(whole, kinds=without_dominated(plenty, ()))
        gone += len(kinds) - len(fewer.kinds)
        assert cheapest_mix(fewer).usd_per_hour == pytest.approx(cheapest_mix(whole).usd_per_hour)
    assert gone > 20
