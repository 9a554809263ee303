"""How many tokens the events of a stream stand for."""

from heterodyne.admission.event_tokens import STREAMS_KEPT, EventTokens
from heterodyne.domain.fleet import PoolName

POOL = PoolName("p")


def test_an_event_is_a_token_until_something_else_is_known() -> None:
    assert EventTokens().estimate(POOL, 7) == 7


def test_events_of_several_tokens_are_counted_as_several() -> None:
    known = EventTokens()
    for _ in range(5):
        known.learn(POOL, 1 + 10 + 2, 33)
    assert known.estimate(POOL, 11) == 33
    assert known.estimate(PoolName("another"), 11) == 11


def test_events_without_a_token_at_the_ends_of_streams_make_no_event_worth_less_than_one() -> None:
    known = EventTokens()
    known.learn(POOL, 1 + 8 + 2, 8)
    assert known.estimate(POOL, 20) == 20


def test_odd_streams_move_nothing_and_short_ones_say_nothing() -> None:
    known = EventTokens()
    for _ in range(STREAMS_KEPT):
        known.learn(POOL, 102, 100)
    for _ in range(STREAMS_KEPT // 2):
        known.learn(POOL, 10, 5000)
        known.learn(POOL, 3, 5000)
    assert known.estimate(POOL, 50) == 50
