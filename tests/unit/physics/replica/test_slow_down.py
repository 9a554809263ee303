"""A clock that is slowed down is the clock that was made so slow."""

from heterodyne.physics.replica.from_layout import placement_of
from heterodyne.physics.replica.step_clock import PromptChunk, StepClock
from tests.support.simulations import pools

[POOL] = pools()


def times_s(clock: StepClock) -> list[float]:
    return [
        clock.decode_s(8, 1000.0),
        clock.chunks_s([PromptChunk(0, 500)]),
        clock.ahead_s(300, 0),
        clock.ahead_s(20_000, 0),
    ]


def test_slowing_down_changes_every_time_to_that_of_a_clock_made_so() -> None:
    placement = placement_of(POOL.layout)
    clock = StepClock(placement, POOL.profile)
    usual = times_s(clock)
    clock.slow_down(2.0)
    assert times_s(clock) == times_s(StepClock(placement, POOL.profile, slowdown=2.0)) != usual


def test_slowing_down_does_not_add_up() -> None:
    clock = POOL.clock()
    usual = times_s(clock)
    clock.slow_down(3.0)
    clock.slow_down(1.0)
    assert times_s(clock) == usual
