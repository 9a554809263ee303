"""By how much counters have grown."""

from heterodyne.supervisor.policies.growth import CountGrowth

HITS, MISSES = ("answers", ("hit",)), ("answers", ("miss",))


def test_the_first_look_counts_from_nothing_and_the_next_what_is_more() -> None:
    growth = CountGrowth()
    assert growth.note(0.0, {HITS: 3.0}) == {HITS: 3.0}
    assert growth.note(5.0, {HITS: 3.0}) == {}
    assert growth.note(10.0, {HITS: 4.0, MISSES: 2.0}) == {HITS: 1.0, MISSES: 2.0}


def test_the_last_minute_is_what_came_in_it() -> None:
    growth = CountGrowth()
    assert growth.last_minute() == {}
    growth.note(0.0, {HITS: 3.0})
    growth.note(40.0, {HITS: 5.0})
    assert growth.last_minute() == {HITS: 2.0}
    growth.note(99.0, {HITS: 6.0})
    assert growth.last_minute() == {HITS: 3.0}
    growth.note(101.0, {HITS: 6.0})
    assert growth.last_minute() == {HITS: 1.0}
    growth.note(400.0, {HITS: 6.0})
    assert growth.last_minute() == {}


def test_numbers_that_are_there_twice_for_a_moment_are_not_counted_twice() -> None:
    growth = CountGrowth()
    growth.note(0.0, {HITS: 100.0})
    assert growth.note(1.0, {HITS: 140.0}) == {HITS: 40.0}
    assert growth.note(2.0, {HITS: 110.0}) == {}
    assert growth.note(3.0, {HITS: 150.0}) == {HITS: 10.0}
