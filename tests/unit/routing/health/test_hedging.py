"""When a slow first token is worth a second request."""

import pytest

from heterodyne.routing.health.hedging import HedgeTimer, QuantileSketch
from heterodyne.routing.health.model_health import HedgeBudget


def timer() -> HedgeTimer:
    return HedgeTimer(quantile=0.95, factor_max=3.0, min_s=0.1)


def test_before_anything_is_known_a_hedge_waits_for_the_factor() -> None:
    assert timer().after_s(2.0) == 6.0


def test_it_learns_how_late_is_unusual() -> None:
    made = timer()
    for number in range(2000):
        made.on_sample(1.0 + number % 100 / 100)
    assert made.after_s(1.0) == pytest.approx(1.95, rel=0.1)


def test_no_hedge_comes_before_the_expected_time_nor_before_the_least() -> None:
    made = timer()
    for _ in range(64):
        made.on_sample(0.2)
    assert made.after_s(1.0) == 1.0
    assert made.after_s(0.001) == 0.1


def test_a_replica_that_grows_slow_is_still_hedged() -> None:
    made = timer()
    for _ in range(1000):
        made.on_sample(50.0)
    assert made.after_s(1.0) == 3.0


def test_at_most_one_request_in_twenty_is_hedged() -> None:
    budget = HedgeBudget(0.05)
    hedges = 0
    for _ in range(1000):
        budget.deposit()
        hedges += budget.try_spend()
    assert 49 <= hedges <= 50
    assert (budget.spent, budget.refused) == (hedges, 1000 - hedges)


def test_a_quiet_time_saves_up_only_a_few() -> None:
    budget = HedgeBudget(0.05)
    for _ in range(10_000):
        budget.deposit()
    assert sum(budget.try_spend() for _ in range(100)) == 10


def test_the_sketch_forgets() -> None:
    sketch = QuantileSketch(0.95)
    for _ in range(5000):
        sketch.add(10.0)
    for _ in range(4096):
        sketch.add(1.0)
    assert sketch.value == pytest.approx(1.0, rel=0.1)


def test_the_sketch_takes_any_ratio() -> None:
    sketch = QuantileSketch(0.5)
    for _ in range(32):
        for ratio in (0.0, 1e-9, 1.0, 1e9):
            sketch.add(ratio)
    assert sketch.value is not None
