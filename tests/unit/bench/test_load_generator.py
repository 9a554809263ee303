"""The schedule of an open loop."""

from itertools import islice, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.bench.load_generator import arrivals
from heterodyne.bench.plan import ArrivalProcess


def test_constant_arrivals_are_a_metronome() -> None:
    assert list(islice(arrivals(ArrivalProcess.CONSTANT, 4.0, Random(0)), 4)) == [0.0, 0.25, 0.5, 0.75]


def test_poisson_arrivals_have_the_rate_and_the_spread_of_independent_users() -> None:
    times = list(islice(arrivals(ArrivalProcess.POISSON, 50.0, Random(3)), 20_000))
    gaps = [after - before for before, after in pairwise(times)]
    mean = sum(gaps) / len(gaps)
    deviation = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert mean == pytest.approx(1 / 50, rel=0.03)
    assert deviation == pytest.approx(mean, rel=0.05)


@given(st.sampled_from(ArrivalProcess), st.floats(0.01, 1e5), st.integers())
def test_time_never_runs_backwards_and_a_seed_repeats_it(kind: ArrivalProcess, rate: float, seed: int) -> None:
    times = list(islice(arrivals(kind, rate, Random(seed)), 50))
    assert times == sorted(times)
    assert times == list(islice(arrivals(kind, rate, Random(seed)), 50))
