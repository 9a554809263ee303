"""Quantiles of the bucketed histogram against the exact ones."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.bench.latency_histogram import HIGHEST_S, LOWEST_S, RELATIVE_ERROR_MAX, LatencyHistogram

seconds = st.floats(LOWEST_S, HIGHEST_S, exclude_max=True)


@given(st.lists(seconds, min_size=1, max_size=300), st.sampled_from([0.0, 0.1, 0.5, 0.95, 0.99, 0.999, 1.0]))
def test_a_quantile_is_within_half_a_percent_of_the_exact_one(values: list[float], share: float) -> None:
    histogram = LatencyHistogram()
    for value in values:
        histogram.add(value)
    exact = sorted(values)[max(1, ceil(share * len(values))) - 1]
    assert histogram.quantile_s(share) == pytest.approx(exact, rel=RELATIVE_ERROR_MAX + 1e-9)


def test_the_bound_is_under_one_percent() -> None:
    assert RELATIVE_ERROR_MAX < 0.01


@given(st.lists(seconds, min_size=1, max_size=100))
def test_mean_and_highest_are_exact(values: list[float]) -> None:
    histogram = LatencyHistogram()
    for value in values:
        histogram.add(value)
    assert histogram.mean_s() == pytest.approx(sum(values) / len(values))
    assert histogram.highest_s == max(values)


@pytest.mark.parametrize("value", [-1.0, 0.0, 1e-9, 1e9])
def test_values_outside_the_range_are_counted_at_its_ends(value: float) -> None:
    histogram = LatencyHistogram()
    histogram.add(value)
    assert histogram.count == 1
    assert histogram.quantile_s(0.5) <= HIGHEST_S * 1.01


def test_an_empty_histogram_says_zero() -> None:
    assert LatencyHistogram().quantile_s(0.99) == 0.0
    assert LatencyHistogram().mean_s() == 0.0
