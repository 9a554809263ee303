"""Which of many kinds are asked about."""

import random

import pytest
from msgspec import structs

from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind, TrafficBucket
from heterodyne.planning.mix.worthwhile import worthwhile


def problem(seed: int) -> MixProblem:
    chance = random.Random(seed)
    buckets = tuple(TrafficBucket(name=name, requests_per_s=chance.uniform(20, 60)) for name in "abcd")
    kinds = tuple(
        ReplicaKind(
            name=f"k{index}",
            usd_per_hour=chance.uniform(1.0, 9.0),
            requests_per_s={name: chance.uniform(0.5, 4.0) for name in "abcd"},
            available=500,
        )
        for index in range(40)
    )
    return MixProblem(buckets=buckets, kinds=kinds)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_left_out_hardly_changes_the_price(seed: int) -> None:
    asked = problem(seed)
    narrowed = worthwhile(asked, most=12)
    assert 12 <= len(narrowed.kinds) <= 13
    assert cheapest_mix(narrowed).usd_per_hour <= cheapest_mix(asked).usd_per_hour * 1.01


def test_the_best_single_kind_and_those_that_are_wanted_stay() -> None:
    asked = problem(1)
    alone = cheapest_mix(asked).single_kind_usd_per_hour
    best = min(alone, key=alone.__getitem__)
    assert best in {kind.name for kind in worthwhile(asked, most=1).kinds}
    wanted = structs.replace(asked.kinds[-1], usd_per_hour=99.0, minimum=1)
    narrowed = worthwhile(structs.replace(asked, kinds=(*asked.kinds[:-1], wanted)), most=1)
    assert wanted in narrowed.kinds


def test_a_small_question_is_left_alone() -> None:
    assert worthwhile(problem(1), most=40) == problem(1)
