"""The range of a prediction, and any quantile of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.spread import Range, Spread

SPREAD = Spread(low=0.8, middle=1.0, high=1.5)


def test_the_range_is_the_outer_quantiles_and_the_middle_is_the_middle() -> None:
    assert SPREAD.range(10.0) == Range(low=8.0, high=15.0)
    assert SPREAD.at(10.0, 0.1) == pytest.approx(8.0)
    assert SPREAD.at(10.0, 0.5) == pytest.approx(10.0)
    assert SPREAD.at(10.0, 0.9) == pytest.approx(15.0)


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_a_larger_share_never_takes_less_time(one: float, other: float) -> None:
    few, many = sorted((one, other))
    assert SPREAD.factor(few) <= SPREAD.factor(many)


@pytest.mark.parametrize("quantile", [0.0, 1.0, -1.0, 90.0])
def test_what_is_no_quantile_is_refused(quantile: float) -> None:
    with pytest.raises(InvalidSpec, match=r"0\.5 is the middle"):
        SPREAD.factor(quantile)
