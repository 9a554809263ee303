"""Buckets of times: what lies where, and how near a percentile is."""

import random
from math import ceil, inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.history import Distribution
from heterodyne.domain.spread import (
    BUCKETS,
    FLOOR_MS,
    PER_DECADE,
    SpreadTally,
    bucket_of,
    count_of,
    mean_ms,
    merged,
    percentile_ms,
    percentiles_ms,
    upper_ms,
)

TIMES = st.floats(FLOOR_MS, upper_ms(BUCKETS - 1))


def spread_of(times: list[float]) -> Distribution:
    tally = SpreadTally()
    for ms in times:
        tally.add(ms)
    return tally.distribution()


def test_a_factor_of_ten_is_forty_buckets() -> None:
    assert [bucket_of(ms) for ms in (0.01, 0.1, 1.0, 10.0, 1e6)] == [0, 40, 80, 120, 320]
    assert upper_ms(PER_DECADE) == pytest.approx(10 * FLOOR_MS)
    assert upper_ms(1) / upper_ms(0) == pytest.approx(1.0593, abs=1e-4)


def test_every_number_has_a_bucket() -> None:
    assert [bucket_of(ms) for ms in (-1.0, 0.0, 1e-300)] == [0, 0, 0]
    assert [bucket_of(ms) for ms in (1e7, 1e30, inf)] == [BUCKETS - 1] * 3


def test_what_is_no_time_spoils_no_sum() -> None:
    assert spread_of([nan, -5.0, 2.0]) == Distribution(counts={0: 2, bucket_of(2.0): 1}, sum_ms=2.0)


@given(TIMES)
def test_a_time_lies_between_the_ends_of_its_bucket(ms: float) -> None:
    bucket = bucket_of(ms)
    assert ms <= upper_ms(bucket)
    assert bucket == 0 or ms > upper_ms(bucket - 1)


@given(st.lists(TIMES, min_size=1, max_size=300), st.floats(0, 1))
def test_a_percentile_is_within_three_per_cent_of_the_true_one(times: list[float], share: float) -> None:
    true_ms = sorted(times)[max(1, ceil(share * len(times))) - 1]
    assert percentile_ms(spread_of(times), share) == pytest.approx(true_ms, rel=0.03)


def test_percentiles_of_a_long_tail_are_within_three_per_cent() -> None:
    chance = random.Random(4)
    times = sorted(chance.lognormvariate(5, 1.5) for _ in range(20_000))
    for share, found in zip(
        (0.5, 0.9, 0.99, 0.999), percentiles_ms(spread_of(times), (0.5, 0.9, 0.99, 0.999)), strict=True
    ):
        assert found == pytest.approx(times[ceil(share * len(times)) - 1], rel=0.03)


def test_of_nothing_there_is_no_percentile() -> None:
    nothing = Distribution()
    assert (percentile_ms(nothing, 0.5), mean_ms(nothing), count_of(nothing)) == (None, None, 0)


@given(st.lists(st.lists(TIMES, max_size=20), max_size=8))
def test_parts_add_up_to_the_whole(parts: list[list[float]]) -> None:
    together, whole = merged(map(spread_of, parts)), spread_of([ms for part in parts for ms in part])
    assert together.counts == whole.counts
    assert together.sum_ms == pytest.approx(whole.sum_ms)
