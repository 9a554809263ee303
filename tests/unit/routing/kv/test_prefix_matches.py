"""How much of a prompt each place holds."""

from heterodyne.routing.kv.prefix_matches import NOTHING_CACHED, prefix_matches


def test_nothing_is_held_of_a_prompt_that_is_not_known() -> None:
    assert NOTHING_CACHED.is_empty
    assert (NOTHING_CACHED.tokens(0), NOTHING_CACHED.longest_tokens, NOTHING_CACHED.by_place()) == (0.0, 0.0, {})


def test_the_only_place_that_holds_the_longest_part_is_known_by_name() -> None:
    found = prefix_matches({1: 100.0, 2: 100.0, 7: 900.0})
    assert (found.lone_place, found.lone_tokens, found.most_tokens, found.longest_tokens) == (7, 900.0, 100.0, 900.0)
    assert [found.tokens(place) for place in (0, 1, 2, 7)] == [0.0, 100.0, 100.0, 900.0]


def test_where_several_hold_the_longest_part_none_is() -> None:
    found = prefix_matches({1: 100.0, 2: 900.0, 7: 900.0})
    assert (found.lone_place, found.most_tokens) == (-1, 900.0)
    assert found.by_place() == {1: 100.0, 2: 900.0, 7: 900.0}


def test_beside_the_only_place_nothing_is_held() -> None:
    found = prefix_matches({3: 50.0})
    assert (found.lone_place, found.lone_tokens, found.most_tokens) == (3, 50.0, 0.0)
