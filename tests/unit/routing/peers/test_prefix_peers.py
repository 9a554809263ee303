"""SGLang, AIBrix and Dynamo: affinity for prompts that were sent before, with numbers worked out by hand."""

from random import Random

import pytest

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.routing.peers.aibrix_prefix import AibrixPrefix
from heterodyne.routing.peers.dynamo import Dynamo
from heterodyne.routing.peers.sglang_cache_aware import SglangCacheAware
from tests.unit.routing.peers.replica_states import chain, ended, first, last, replica_state, routing_request, three


def test_sglang_follows_a_match_of_more_than_three_tenths() -> None:
    picker, (a, b, c) = SglangCacheAware(), three()
    picker.on_start(routing_request(1000, chain(1, 2, 3, 4)), c, 0.0)
    assert picker.pick(routing_request(1000, chain(1, 2, 3, 4)), (a, b, c), 0.0, first) is c  # 400 of 1000
    assert picker.pick(routing_request(1000, chain(1, 2, 3, 9)), (a, b, c), 0.0, first) is a  # 300 is not more than 300


@pytest.mark.parametrize(
    ("warm", "others", "stays"),
    [
        (64, 0, True),  # 64 apart is not more than 64
        (65, 0, False),  # 65 apart, and 65 > 1.5 * 0
        (200, 134, True),  # 66 apart, but 200 is not more than 1.5 * 134 = 201
        (202, 134, False),  # 68 apart, and 202 > 201
    ],
)
def test_sglang_forgets_affinity_when_loads_are_uneven_by_both_measures(warm: int, others: int, stays: bool) -> None:
    picker = SglangCacheAware()
    a, b, c = (
        replica_state("a", 0, in_flight=others),
        replica_state("b", 1, in_flight=others),
        replica_state("c", 2, in_flight=warm),
    )
    picker.on_start(routing_request(400, chain(1, 2, 3, 4)), c, 0.0)
    picked = picker.pick(routing_request(400, chain(1, 2, 3, 4)), (a, b, c), 0.0, last)
    assert picked is (c if stays else b)


def test_sglang_takes_the_warmest_that_is_left_when_the_warmest_is_gone() -> None:
    picker, (a, b, c) = SglangCacheAware(), three()
    picker.on_start(routing_request(400, chain(1, 2, 3, 4)), c, 0.0)
    picker.on_start(routing_request(400, chain(1, 2, 7, 8)), b, 0.0)
    assert picker.pick(routing_request(400, chain(1, 2, 3, 4)), (a, b), 0.0, first) is b


def test_aibrix_takes_the_longest_match_within_one_deviation_of_the_mean() -> None:
    picker = AibrixPrefix()
    a, b, c = replica_state("a", 0, in_flight=0), replica_state("b", 1, in_flight=3), replica_state("c", 2, in_flight=6)
    picker.on_start(routing_request(400, chain(1, 2, 3, 4)), c, 0.0)
    picker.on_start(routing_request(400, chain(1, 2)), b, 0.0)
    # Mean 3, deviation sqrt(6) = 2.449: c with 6 is above 5.449, b is not.
    assert picker.pick(routing_request(400, chain(1, 2, 3, 4)), (a, b, c), 0.0, first) is b
    c.in_flight = 5
    # Mean 8/3, deviation 2.055: c with 5 is still above 4.721.
    assert picker.pick(routing_request(400, chain(1, 2, 3, 4)), (a, b, c), 0.0, first) is b
    c.in_flight = 3
    assert picker.pick(routing_request(400, chain(1, 2, 3, 4)), (a, b, c), 0.0, first) is c


def test_aibrix_takes_the_idlest_when_loads_are_more_than_eight_apart() -> None:
    picker, (a, b, c) = AibrixPrefix(), three()
    picker.on_start(routing_request(400, chain(1, 2)), b, 0.0)
    assert picker.pick(routing_request(400, chain(1, 2)), (a, b, c), 0.0, last) is b
    c.in_flight = 8
    assert picker.pick(routing_request(400, chain(1, 2)), (a, b, c), 0.0, first) is b
    b.in_flight, c.in_flight = 1, 9
    assert picker.pick(routing_request(400, chain(1, 2)), (a, b, c), 0.0, first) is a
    assert picker.pick(routing_request(400, chain(7)), (a, b), 0.0, first) is a


def test_dynamo_counts_blocks_to_compute_and_blocks_in_use() -> None:
    picker, (a, b, c) = Dynamo(), three()
    picker.on_start(routing_request(800, chain(1, 2, 3, 4)), a, 0.0)
    a.waiting_tokens = 800.0
    request = routing_request(480, chain(1, 2, 8))
    # a: (800 + 480 - 200) / 16 to compute, (800 + 480 - 200) / 16 in use; the others 480 / 16 of each.
    assert picker.costs(request, (a, b, c)) == [67.5 + 67.5, 30.0 + 30.0, 30.0 + 30.0]
    assert picker.pick(request, (a, b, c), 0.0, last) is c


def test_dynamo_stays_where_the_overlap_is_worth_more_than_what_is_in_use() -> None:
    picker, (a, b, _) = Dynamo(), three()
    picker.on_start(routing_request(1600, chain(*range(16))), a, 0.0)
    # a: (1600 - 1600) / 16 + 1600 / 16, as all is shared; b: 100 + 100.
    assert picker.costs(routing_request(1600, chain(*range(16))), (a, b)) == [100.0, 200.0]


def test_dynamo_forgets_what_is_in_use_but_not_what_is_cached_when_a_request_ends() -> None:
    picker, (a, b, _) = Dynamo(), three()
    one, other = routing_request(400, chain(1, 2, 3)), routing_request(400, chain(1, 2, 4))
    picker.on_start(one, a, 0.0)
    picker.on_start(other, a, 0.0)
    # In use 400 + 200 of the other; an unlike prompt of 160 adds 10 blocks to compute and 10 in use.
    assert picker.costs(routing_request(160, chain(9)), (a,)) == [10.0 + (600 + 160) / 16]
    picker.on_end(one, a, ended(), 1.0)
    assert picker.costs(routing_request(160, chain(9)), (a,)) == [10.0 + (400 + 160) / 16]
    picker.on_end(other, a, ended(), 1.0)
    assert picker.costs(routing_request(160, chain(9)), (a,)) == [20.0]
    assert picker.costs(one, (a, b)) == [100 / 16 + 25.0, 25.0 + 25.0]


def test_dynamo_holds_no_more_cached_than_the_engine_has_room_for() -> None:
    picker, a = Dynamo(), replica_state("a", 0, load=EngineLoad(kv_tokens=300))
    picker.on_start(routing_request(200, chain(1, 2)), a, 0.0)
    picker.on_start(routing_request(200, chain(5, 6)), a, 0.0)
    for prompt in (chain(1, 2), chain(5, 6)):
        picker.on_end(routing_request(200, prompt), a, ended(), 1.0)
    assert picker.costs(routing_request(160, chain(1, 2)), (a,)) == [60 / 16 + 10.0]  # 100 of the first are left


def test_dynamo_is_not_confused_by_an_end_from_a_replica_whose_place_is_taken() -> None:
    picker, former, next_one = Dynamo(), replica_state("a", 0), replica_state("z", 0)
    picker.on_start(routing_request(160, chain(1)), former, 0.0)
    picker.on_start(routing_request(320, chain(2)), next_one, 0.0)
    picker.on_end(routing_request(160, chain(1)), former, ended(), 1.0)
    assert picker.costs(routing_request(160, chain(9)), (next_one,)) == [10.0 + 30.0]


def test_dynamo_has_nothing_in_use_when_everything_has_ended() -> None:
    random, picker, replica_states = Random(4), Dynamo(), three()
    in_flight = []
    for _ in range(400):
        start = random.randrange(5)
        request = routing_request(750, chain(*(10 * start + depth for depth in range(random.randrange(1, 8)))))
        picker.on_start(request, target := random.choice(replica_states), 0.0)
        in_flight.append((request, target))
    random.shuffle(in_flight)
    for request, target in in_flight:
        picker.on_end(request, target, ended(), 1.0)
    assert picker.costs(routing_request(160, chain(999)), replica_states) == [20.0] * 3
