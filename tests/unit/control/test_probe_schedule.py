"""How long the watch waits between two looks."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.control.probe_schedule import USUAL


def test_a_ready_replica_is_looked_at_every_two_seconds_or_so() -> None:
    interval_s = USUAL.interval_s(replicas=8, workers=1)
    assert interval_s == 2.0
    assert USUAL.pause_s(0, interval_s, 0.0) == 1.6
    assert USUAL.pause_s(0, interval_s, 1.0) == 2.4


def test_a_replica_that_is_down_is_looked_at_soon_and_then_less_often() -> None:
    pauses = [USUAL.pause_s(failures, 2.0, 0.5) for failures in (1, 2, 3, 4, 5, 500)]
    assert pauses == [0.2, 0.4, 0.8, 1.6, 2.0, 2.0]


def test_a_large_fleet_and_many_workers_stretch_the_interval() -> None:
    assert USUAL.interval_s(replicas=128, workers=8) == 2.0
    assert USUAL.interval_s(replicas=512, workers=1) == 8.0
    assert USUAL.interval_s(replicas=1, workers=64) == 16.0
    assert USUAL.pause_s(100, USUAL.interval_s(replicas=512, workers=1), 0.5) == 8.0


@given(st.integers(1, 5000), st.integers(1, 64), st.integers(0, 10_000), st.floats(0, 1))
def test_no_pause_is_short_enough_to_be_a_spin(replicas: int, workers: int, failures: int, chance: float) -> None:
    assert USUAL.pause_s(failures, USUAL.interval_s(replicas, workers), chance) >= 0.15
