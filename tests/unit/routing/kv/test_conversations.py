"""What many prompts begin with is found, a prompt that goes on takes the place of the one before, and nothing grows
without end."""

import pytest

from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.routing.kv import conversations
from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.conversations import Conversations, hottest_of
from tests.support.kv_fleets import KvFleet, asked, copying

BLOCK = 100


def chain(*blocks: int) -> Chain:
    return Chain(blocks, tuple(BLOCK * (number + 1) for number in range(len(blocks))))


def test_a_prompt_that_goes_on_takes_the_place_of_the_one_before() -> None:
    one = Conversations()
    one.note("m", chain(1, 2), 0.0)
    one.note("m", chain(1, 2, 3), 10.0)
    (known,) = hottest_of(one.of("m"), 5, 10.0)
    assert (known.tokens, known.wants) == (300, 1.0)
    assert hottest_of(one.of("other"), 5, 10.0) == []


def test_what_was_sent_again_and_again_is_not_forgotten_when_one_prompt_goes_on_from_it() -> None:
    one = Conversations()
    for _ in range(4):
        one.note("m", chain(1, 2), 0.0)
    one.note("m", chain(1, 2, 3), 0.0)
    first, second = hottest_of(one.of("m"), 5, 0.0)
    assert (first.tokens, first.wants) == (200, 5.0)
    assert (second.tokens, second.wants) == (300, 1.0)


def test_what_many_begin_with_is_the_hottest() -> None:
    one = Conversations()
    for number in range(10):
        one.note("m", chain(1, 2, 100 + number), 0.0)
    one.note("m", chain(7, 8, 9, 10), 0.0)
    first, second, *rest = hottest_of(one.of("m"), 5, 0.0)
    assert (first.chain.hashes, first.wants) == ((1, 2), 10.0)
    assert second.chain.hashes == (7, 8, 9, 10)
    assert all(prefix.chain.hashes[:2] == (1, 2) for prefix in rest)


def test_a_longer_beginning_counts_only_for_what_it_adds() -> None:
    one = Conversations()
    for number in range(4):
        one.note("m", chain(1, 2, 3, 4, 50 + number), 0.0)
    for number in range(4):
        one.note("m", chain(1, 2, 3, 60 + number), 0.0)
    for number in range(3):
        one.note("m", chain(5, 6, 70 + number), 0.0)
    assert [prefix.chain.hashes for prefix in hottest_of(one.of("m"), 3, 0.0)] == [(1, 2, 3), (5, 6), (1, 2, 3, 4)]


def test_what_was_wanted_long_ago_is_cold() -> None:
    one = Conversations()
    for number in range(5):
        one.note("m", chain(1, 100 + number), 0.0)
    for number in range(2):
        one.note("m", chain(2, 200 + number), 3600.0)
    assert hottest_of(one.of("m"), 1, 3600.0)[0].chain.hashes[0] == 2


def test_no_more_conversations_are_known_than_the_cap() -> None:
    one = Conversations(conversations_max=10)
    for number in range(100):
        one.note("m", chain(number), float(number))
    assert len(one) == 10
    assert hottest_of(one.of("m"), 3, 100.0)[0].tokens == BLOCK


def test_long_prompts_push_out_others_before_they_take_much_memory() -> None:
    one = Conversations()
    long = conversations.BLOCKS_MAX // 4
    for number in range(10):
        one.note("m", chain(*range(number * long, (number + 1) * long)), 0.0)
    assert len(one) == 4


@pytest.mark.parametrize("strategy", [KvStrategy.PREFIX, KvStrategy.AUTO])
def test_a_router_knows_what_it_was_asked_for_most(strategy: KvStrategy) -> None:
    one = KvFleet(copying("a"), copying("b"), kv=strategy)
    for _ in range(3):
        one.serve(asked(words=b"hot"), "a", times=1)
    one.serve(asked(words=b"cold"), "b", times=1)
    (hottest,) = hottest_of(one.router.fabric.conversations.of("m"), 1, one.now_s)
    assert hottest.chain == asked(words=b"hot").chain
