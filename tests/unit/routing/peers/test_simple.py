"""Peers that look at nothing but counts: in turn, the idlest, the idler of two, any."""

from collections import Counter
from random import Random

from heterodyne.routing.peers.least_request import LeastRequest
from heterodyne.routing.peers.litellm_shuffle import LitellmShuffle
from heterodyne.routing.peers.power_of_two import PowerOfTwo
from heterodyne.routing.peers.round_robin import RoundRobin
from tests.unit.routing.peers.replica_states import first, last, replica_state, routing_request, three


def test_each_replica_has_its_turn_in_the_order_of_ids() -> None:
    picker, (a, b, c) = RoundRobin(), three()
    picked = [picker.pick(routing_request(), (c, a, b), 0.0, first).replica.id for _ in range(5)]
    assert picked == ["a", "b", "c", "a", "b"]


def test_a_round_goes_on_where_it_was_when_a_replica_leaves_and_another_comes() -> None:
    picker, (a, b, c) = RoundRobin(), three()
    assert picker.pick(routing_request(), (a, b, c), 0.0, first) is a
    assert picker.pick(routing_request(), (a, c, replica_state("d", 3)), 0.0, first) is c
    assert picker.pick(routing_request(), (a, b), 0.0, first) is a


def test_the_fewest_requests_in_flight_win_and_chance_breaks_ties() -> None:
    a, b, c = replica_state("a", 0, in_flight=2), replica_state("b", 1, in_flight=1), replica_state("c", 2, in_flight=1)
    assert LeastRequest().pick(routing_request(), (a, b, c), 0.0, first) is b
    assert LeastRequest().pick(routing_request(), (a, b, c), 0.0, last) is c


def test_two_different_replicas_are_drawn_and_the_idler_is_taken() -> None:
    a, b, c = replica_state("a", 0, in_flight=0), replica_state("b", 1, in_flight=5), replica_state("c", 2, in_flight=9)
    draws = iter((0.5, 0.5))  # b, then the second of the other two: c
    assert PowerOfTwo().pick(routing_request(), (a, b, c), 0.0, lambda: next(draws)) is b
    assert PowerOfTwo().pick(routing_request(), (c,), 0.0, first) is c


def test_the_busiest_of_three_is_never_the_idler_of_two() -> None:
    replica_states, random = (
        (replica_state("a", 0), replica_state("b", 1, in_flight=5), replica_state("c", 2, in_flight=9)),
        Random(7),
    )
    counted = Counter(
        PowerOfTwo().pick(routing_request(), replica_states, 0.0, random.random).replica.id for _ in range(3000)
    )
    assert counted["c"] == 0
    assert abs(counted["a"] / 3000 - 2 / 3) < 0.05


def test_a_shuffle_takes_each_as_often() -> None:
    replica_states, random = three(), Random(7)
    counted = Counter(
        LitellmShuffle().pick(routing_request(), replica_states, 0.0, random.random).replica.id for _ in range(3000)
    )
    assert all(abs(count / 3000 - 1 / 3) < 0.05 for count in counted.values())
