"""When a batch will be done, by how it went lately."""

import pytest

from heterodyne.batches.forecast import LINES_MIN, BatchForecast


def test_nothing_is_said_before_enough_lines_are_done() -> None:
    forecast = BatchForecast(0, 0.0)
    assert forecast.left_s(1000) is None
    forecast.note(LINES_MIN - 1, 10.0)
    assert forecast.left_s(1000) is None


def test_a_steady_pace_goes_on() -> None:
    forecast = BatchForecast(500, 0.0)
    for second in range(1, 61):
        forecast.note(500 + 10 * second, float(second))
    assert forecast.left_s(2100) == pytest.approx(100.0)
    assert forecast.left_s(1100) == 0.0


def test_what_was_long_ago_counts_for_little() -> None:
    forecast = BatchForecast(0, 0.0)
    forecast.note(10_000, 10.0)
    for second in range(11, 3011):
        forecast.note(10_000 + (second - 10), float(second))
    assert forecast.left_s(14_000) == pytest.approx(1000.0, rel=0.05)


def test_a_batch_that_stands_still_is_later_and_later() -> None:
    forecast = BatchForecast(0, 0.0)
    forecast.note(100, 10.0)
    before = forecast.left_s(200)
    forecast.note(100, 70.0)
    after = forecast.left_s(200)
    assert before is not None
    assert after is not None
    assert after > 5 * before
