"""The prefix index."""

from math import inf

from heterodyne.routing.kv.chain import EMPTY, Chain
from heterodyne.routing.kv.index import PrefixIndex


def chain(*blocks: int, tokens: int = 10) -> Chain:
    return Chain(blocks, tuple(range(tokens, tokens * len(blocks) + 1, tokens)))


def test_every_place_is_told_with_the_tokens_it_holds() -> None:
    index = PrefixIndex()
    index.insert(0, chain(1, 2, 3))
    index.insert(5, chain(1, 2))
    index.insert(63, chain(1, 9))
    index.insert(7, chain(8))
    assert index.matches(chain(1, 2, 3, 4)).by_place() == {0: 30, 5: 20, 63: 10}


def test_a_prompt_nobody_has_seen_matches_nothing() -> None:
    index = PrefixIndex()
    assert index.matches(chain(1)).by_place() == {}
    index.insert(0, chain(1))
    assert index.matches(chain(2)).by_place() == {}
    assert index.matches(EMPTY).by_place() == {}
    index.insert(0, EMPTY)
    assert index.entries == 1


def test_more_than_sixty_four_places_are_fine() -> None:
    index = PrefixIndex()
    index.insert(200, chain(1, 2))
    assert index.matches(chain(1, 2)).by_place() == {200: 20}


def test_a_block_without_the_one_before_it_does_not_match() -> None:
    index = PrefixIndex()
    index.insert(0, chain(1, 2, 3))
    index.remove(0, (2, 77))
    assert index.matches(chain(1, 2, 3)).by_place() == {0: 10}
    assert index.entries == 2


def test_the_end_of_the_oldest_prompt_goes_first() -> None:
    index = PrefixIndex(blocks_max=5)
    index.insert(0, chain(1, 2, 3))
    index.insert(0, chain(4, 5, 6))
    assert index.matches(chain(1, 2, 3)).by_place() == {0: 20}
    assert index.matches(chain(4, 5, 6)).by_place() == {0: 30}


def test_a_beginning_that_is_wanted_again_outlives_what_is_not() -> None:
    index = PrefixIndex(blocks_max=4)
    index.insert(0, chain(1, 2))
    index.insert(0, chain(3, 4))
    index.insert(0, chain(1, 5))
    assert index.matches(chain(1, 5)).by_place() == {0: 20}
    assert index.matches(chain(1, 2)).by_place() == {0: 10}
    assert index.matches(chain(3, 4)).by_place() == {0: 20}


def test_a_place_holds_no_more_tokens_than_its_memory() -> None:
    index = PrefixIndex()
    index.limit(0, 35)
    index.insert(0, chain(1, 2))
    index.insert(0, chain(3, 4))
    assert index.tokens(0) == 30
    assert index.matches(chain(1, 2)).by_place() == {0: 10}
    index.limit(0, 10)
    assert index.tokens(0) == 10
    index.limit(0, inf)
    index.insert(0, chain(5, 6))
    assert index.tokens(0) == 30


def test_of_a_prompt_larger_than_the_memory_the_beginning_is_kept() -> None:
    index = PrefixIndex()
    index.limit(0, 25)
    index.insert(0, chain(1, 2, 3, 4))
    assert index.matches(chain(1, 2, 3, 4)).by_place() == {0: 20}


def test_a_forgotten_place_is_empty_and_may_be_used_again() -> None:
    index = PrefixIndex()
    index.insert(0, chain(1, 2))
    index.insert(1, chain(1, 2))
    index.forget(0)
    index.forget(9)
    assert index.matches(chain(1, 2)).by_place() == {1: 20}
    assert (index.entries, index.tokens(0)) == (2, 0)
    index.insert(0, chain(1))
    assert index.matches(chain(1, 2)).by_place() == {0: 10, 1: 20}


def test_a_prompt_is_proven_only_once_a_first_token_has_come() -> None:
    index = PrefixIndex()
    assert index.insert(0, chain(1, 2)) == 0
    assert index.insert(0, chain(1, 2, 3)) == 0
    assert index.matches(chain(1, 2)).by_place() == {0: 20}
    index.prove(0, chain(1, 2))
    assert index.insert(0, chain(1, 2, 3)) == 20
    index.prove(0, chain(1, 2, 3))
    assert index.insert(0, chain(1, 2, 3)) == 30
    assert index.insert(1, chain(1, 2, 3)) == 0


def test_a_beginning_that_was_lost_disproves_what_follows() -> None:
    index = PrefixIndex()
    index.insert(0, chain(1, 2, 3))
    index.prove(0, chain(1, 2, 3))
    index.remove(0, [2])
    assert index.insert(0, chain(1, 2, 3)) == 10


def test_trimming_spares_what_is_still_being_computed() -> None:
    index = PrefixIndex()
    index.insert(0, chain(1, 2))
    index.prove(0, chain(1, 2))
    index.insert(0, chain(3, 4))
    index.trim(0, 10)
    assert index.matches(chain(1, 2)).by_place() == {0: 10}
    assert index.matches(chain(3, 4)).by_place() == {0: 20}


def test_blocks_too_small_for_a_token_are_still_bounded() -> None:
    index = PrefixIndex()
    index.limit(0, 5)
    for number in range(100):
        index.insert(0, Chain((number,), (0,)))
    assert index.entries == 5
