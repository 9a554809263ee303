"""What many prompts begin with is found, conversations are followed turn by turn, and neither grows without end."""

import pytest

from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.conversations import Conversations

BLOCK = 100


def chain(*blocks: int) -> Chain:
    return Chain(blocks, tuple(BLOCK * (number + 1) for number in range(len(blocks))))


def test_a_prompt_that_goes_on_takes_the_place_of_the_one_before() -> None:
    one = Conversations()
    one.note("m", chain(1, 2), "a", 0.0)
    one.note("m", chain(1, 2, 3), "b", 10.0)
    (known,) = one.of("m")
    assert (known.turns, known.replica, known.tokens, known.wanted_s) == (2, "b", 300, 10.0)
    assert one.of("other") == []


def test_what_many_begin_with_is_the_hottest() -> None:
    one = Conversations()
    for number in range(10):
        one.note("m", chain(1, 2, 100 + number), "a", 0.0)
    one.note("m", chain(7, 8, 9, 10), "a", 0.0)
    first, second, *rest = one.hottest("m", 5, 0.0)
    assert (first.chain.hashes, first.wants) == ((1, 2), 10.0)
    assert second.chain.hashes == (7, 8, 9, 10)
    assert all(prefix.chain.hashes[:2] == (1, 2) for prefix in rest)


def test_a_longer_beginning_counts_only_for_what_it_adds() -> None:
    one = Conversations()
    for number in range(4):
        one.note("m", chain(1, 2, 3, 4, 50 + number), "a", 0.0)
    for number in range(4):
        one.note("m", chain(1, 2, 3, 60 + number), "a", 0.0)
    for number in range(3):
        one.note("m", chain(5, 6, 70 + number), "a", 0.0)
    assert [prefix.chain.hashes for prefix in one.hottest("m", 3, 0.0)] == [(1, 2, 3), (5, 6), (1, 2, 3, 4)]


def test_what_was_wanted_long_ago_is_cold() -> None:
    one = Conversations()
    for number in range(5):
        one.note("m", chain(1, 100 + number), "a", 0.0)
    for number in range(2):
        one.note("m", chain(2, 200 + number), "a", 3600.0)
    assert one.hottest("m", 1, 3600.0)[0].chain.hashes[0] == 2


def test_the_chance_of_another_turn_is_learned_from_gaps() -> None:
    one = Conversations()
    assert one.returning(10.0, 60.0) == 0.0
    for conversation in range(20):
        one.note("m", chain(conversation, 0), "a", 0.0)
        one.note("m", chain(conversation, 0, 1), "a", 20.0)
    assert one.returning(5.0, 60.0) == pytest.approx(0.5)
    assert one.returning(300.0, 60.0) == 0.0
    assert one.returning(5.0, 1.0) == 0.0


def test_no_more_conversations_are_known_than_the_cap() -> None:
    one = Conversations(conversations_max=10)
    for number in range(100):
        one.note("m", chain(number), "a", float(number))
    assert len(one) == 10
    assert one.hottest("m", 3, 100.0)[0].tokens == BLOCK
