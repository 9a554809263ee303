"""Gaps, repeats and new beginnings of an engine's KV event numbers."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.engines.kv_sequence import SequenceStep, SequenceWatch

APPLY, DROP = SequenceStep(applies=True), SequenceStep()


def watch_at(number: int) -> SequenceWatch:
    watch = SequenceWatch()
    for one in range(number):
        assert watch.live(one) == APPLY
    return watch


def test_what_comes_in_order_is_applied() -> None:
    watch_at(5)


def test_a_gap_is_asked_for_and_filled() -> None:
    watch = watch_at(3)
    assert watch.live(6) == SequenceStep(replay_from=3)
    assert [watch.replayed(number) for number in (3, 4, 5, 6, 7)] == [APPLY] * 5
    assert watch.replay_ended() == DROP, "the replay had it"
    assert watch.live(7) == DROP, "the replay had it"
    assert watch.live(8) == APPLY


def test_a_replay_that_ends_before_the_held_message_leaves_it_to_be_applied() -> None:
    watch = watch_at(3)
    watch.live(5)
    assert [watch.replayed(number) for number in (3, 4)] == [APPLY] * 2
    assert watch.replay_ended() == APPLY
    assert watch.live(6) == APPLY


def test_what_the_engine_no_longer_has_costs_all_that_was_known() -> None:
    watch = watch_at(3)
    watch.live(9)
    assert watch.replayed(7) == SequenceStep(forgets=True, applies=True)
    assert watch.replayed(8) == APPLY
    assert watch.replay_ended() == APPLY


def test_without_a_replay_a_gap_costs_all_that_was_known() -> None:
    watch = watch_at(3)
    assert watch.live(5) == SequenceStep(replay_from=3)
    assert watch.replay_ended() == SequenceStep(forgets=True, applies=True)
    assert watch.live(6) == APPLY


def test_who_joins_late_asks_for_everything() -> None:
    watch = SequenceWatch()
    assert watch.live(40) == SequenceStep(replay_from=0)
    assert watch.replayed(0) == APPLY


def test_a_number_that_goes_back_is_an_engine_that_started_again() -> None:
    watch = watch_at(5)
    assert watch.live(0) == SequenceStep(forgets=True, applies=True)
    assert watch.live(1) == APPLY
    assert watch.live(1) == SequenceStep(forgets=True, replay_from=0), "the same number is another life too"
    watch = watch_at(5)
    assert watch.live(2) == SequenceStep(forgets=True, replay_from=0)
    assert [watch.replayed(number) for number in (0, 1)] == [APPLY] * 2
    assert watch.replay_ended() == APPLY


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(0, 20))
def test_nothing_is_applied_twice_or_out_of_order_and_losses_are_never_silent(sent: list[bool], kept: int) -> None:
    """An engine loses some messages on the way and keeps the last few; the watcher replays whenever it is told to."""
    watch = SequenceWatch()
    applied: list[int | str] = []
    for number, arrives in enumerate(sent):
        if not arrives:
            continue
        step = watch.live(number)
        if step.replay_from is not None:
            for old in range(max(step.replay_from, number + 1 - kept), number + 1):
                replayed = watch.replayed(old)
                applied += ["forget"] * replayed.forgets + [old] * replayed.applies
            step = watch.replay_ended()
        applied += ["forget"] * step.forgets + [number] * step.applies
    last = -1
    for place, one in enumerate(applied):
        if one == "forget":
            following = applied[place + 1]
            assert isinstance(following, int)
            assert following > last + 1, "forgot without a loss"
            last = following - 1
        else:
            assert one == last + 1, "a loss that nobody was told of"
            last = one
