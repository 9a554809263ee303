"""Switches by name."""

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.emulator.faults import Faults, Garble, Lie, Share, parse_faults


def test_words_turn_switches() -> None:
    faults = parse_faults(("stall", "slowdown=10", "garble=cut", "lie=frozen"))
    assert faults == Faults(stall=True, slowdown=10, garble=Garble.CUT, lie=Lie.FROZEN)


@pytest.mark.parametrize(
    ("word", "complaint"),
    [("stal", "unknown field `stal`"), ("slowdown=0", "slowdown"), ("garble=nicely", "garble")],
)
def test_a_wrong_word_is_named(word: str, complaint: str) -> None:
    with pytest.raises(InvalidSpec, match=complaint):
        parse_faults((word,))


def test_a_share_is_spread_evenly() -> None:
    share = Share()
    assert [share.picks(0.25) for _ in range(8)] == [False, False, False, True] * 2
    assert all(share.picks(1.0) for _ in range(3))
    assert not any(Share().picks(0.0) for _ in range(3))
