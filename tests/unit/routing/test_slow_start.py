"""Which of the replicas that have come back a request may go to."""

from collections.abc import Sequence

import pytest

from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.routing.slow_start import SlowStart
from tests.support.replica_states import replica

FLEET = tuple(replica(name) for name in "abcd")


def drawn(slow_start: SlowStart, usable: Sequence[Replica], *chances: float, **weights: float) -> str:
    coming = iter(chances)
    slow = [(ReplicaId(name), weight) for name, weight in weights.items()]
    left = slow_start.drawn(usable, slow, lambda: next(coming))
    assert next(coming, None) is None, "every chance is taken"
    return "".join(one.id for one in left)


def test_with_none_in_its_slow_start_the_list_is_the_same() -> None:
    assert SlowStart().drawn(FLEET, [], lambda: 0.5) is FLEET


@pytest.mark.parametrize(("chance", "left"), [(0.19, "abcd"), (0.2, "acd"), (0.99, "acd")])
def test_a_replica_gets_its_weight_of_the_requests(chance: float, left: str) -> None:
    assert drawn(SlowStart(), FLEET, chance, b=0.2) == left


def test_each_is_drawn_for_itself_in_the_order_of_the_fleet() -> None:
    assert drawn(SlowStart(), FLEET, 0.5, 0.5, b=0.2, d=0.6) == "acd"


def test_where_all_are_slow_the_one_that_came_back_first_gets_everything_it_would() -> None:
    assert drawn(SlowStart(), FLEET[:2], 0.6, a=0.4, b=0.2) == "a"
    assert drawn(SlowStart(), FLEET[:2], 0.4, a=0.4, b=0.2) == "ab"
    assert drawn(SlowStart(), FLEET[:2], a=0.4, b=0.399) == "ab", "they came back together"


def test_one_that_may_not_be_asked_does_not_count() -> None:
    assert drawn(SlowStart(), FLEET[:2], d=0.1) == "ab"


def test_the_same_draw_gives_the_same_list_until_the_fleet_changes() -> None:
    slow_start, slow = SlowStart(), [(FLEET[1].id, 0.2)]
    first = slow_start.drawn(FLEET, slow, lambda: 0.9)
    assert slow_start.drawn(FLEET, slow, lambda: 0.8) is first
    slow_start.forget()
    again = slow_start.drawn(FLEET, slow, lambda: 0.9)
    assert again is not first
    assert again == first
