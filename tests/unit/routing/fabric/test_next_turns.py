"""A conversation's next turn is expected by the pauses before its earlier ones."""

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.fabric.next_turns import PAUSE_MAX_S, TURNS_MAX, NextTurns
from heterodyne.routing.routing_request import RoutingRequest
from tests.support.kv_fleets import asked

HOME = ReplicaId("a")


def turn(number: int, tenant: bytes = b"t") -> RoutingRequest:
    return asked(1_000 * number, tenant=tenant)


def talk(turns: NextTurns, count: int, pause_s: float = 10.0, tenant: bytes = b"t") -> float:
    """So many turns, each answered at once; when the last one was."""
    for number in range(1, count + 1):
        turns.asked(turn(number, tenant), number * pause_s)
        turns.answered(turn(number, tenant), HOME, number * pause_s)
    return count * pause_s


def test_nothing_is_expected_before_two_pauses() -> None:
    turns = NextTurns()
    at_s = talk(turns, 2)
    assert (turns.due(at_s + 9.0), turns.has_expected(at_s)) == ([], False)


def test_a_turn_is_due_from_half_a_pause_to_two() -> None:
    turns = NextTurns()
    at_s = talk(turns, 3)
    assert turns.has_expected(at_s)
    assert turns.due(at_s + 4.9) == []
    (due,) = turns.due(at_s + 5.0)
    assert (due.replica, due.pause_s, due.until_s) == (HOME, 10.0, at_s + 20.0)
    assert turns.due(at_s + 20.0) == []
    assert not turns.has_expected(at_s + 20.0)


def test_one_that_was_tried_is_not_due_again() -> None:
    turns = NextTurns()
    at_s = talk(turns, 3)
    turns.due(at_s + 5.0)[0].is_tried = True
    assert turns.due(at_s + 6.0) == []


def test_a_turn_that_comes_is_no_longer_expected_and_moves_the_pause_by_half() -> None:
    turns = NextTurns()
    at_s = talk(turns, 3)
    came = turns.asked(turn(4), at_s + 20.0)
    assert came is not None
    assert turns.asked(turn(4), at_s + 20.0) is None
    turns.answered(turn(4), HOME, at_s + 21.0)
    next_one = turns.of(turn(4).chain.hashes[-1])
    assert next_one is not None
    assert (next_one.pause_s, next_one.pauses) == (15.0, 3)


def test_long_pauses_are_not_waited_for() -> None:
    turns = NextTurns()
    at_s = talk(turns, 4, pause_s=PAUSE_MAX_S + 1.0)
    assert not turns.has_expected(at_s)


def test_the_same_words_of_another_tenant_are_another_conversation() -> None:
    turns = NextTurns()
    at_s = talk(turns, 3)
    assert turns.asked(turn(4, b"other"), at_s + 1.0) is None


def test_it_never_knows_more_than_so_many() -> None:
    turns = NextTurns()
    for number in range(TURNS_MAX + 5):
        turns.answered(turn(1, b"%d" % number), HOME, float(number))
    assert turns.of(turn(1, b"4").chain.hashes[-1]) is None
    assert turns.of(turn(1, b"5").chain.hashes[-1]) is not None
