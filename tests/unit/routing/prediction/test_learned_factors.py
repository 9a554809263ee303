"""The regression on a pool's factors: it finds the true factors, follows them, and is not thrown by what is odd."""

from collections.abc import Callable
from random import Random

import pytest

from heterodyne.routing.prediction.regression import Regression

FACTOR_MIN, FACTOR_MAX = 0.02, 50.0

Factors = tuple[float, float, float]
Parts = Callable[[Random], Factors]


def mixed(random: Random) -> Factors:
    return 0.05 * random.random(), 0.3 * random.random(), 0.1 * random.random()


def without_third(random: Random) -> Factors:
    return 0.05 * random.random(), 0.3 * random.random(), 0.0


def regression(doubt: float = 0.3, pull: float = 0.0) -> Regression:
    return Regression(
        (1.0, 1.0, 1.0, 1.0),
        floors=(0.1, 0.1, 0.1, 0.1),
        least=(FACTOR_MIN, FACTOR_MIN, FACTOR_MIN, FACTOR_MIN),
        most=(FACTOR_MAX, FACTOR_MAX, FACTOR_MAX, FACTOR_MAX),
        doubt=doubt,
        noise=0.1,
        pull=pull,
        regime_doubt=1.0,
    )


def live(
    one: Regression, true: Factors, samples: int, *, noise: float = 0.1, parts: Parts = mixed, seed: int = 1
) -> None:
    random = Random(seed)
    for _ in range(samples):
        seen = parts(random)
        actual_s = sum(factor * part_s for factor, part_s in zip(true, seen, strict=True))
        one.learn(*seen, 0.0, actual_s * random.lognormvariate(0.0, noise))


def error(one: Regression, true: Factors, parts: Parts = mixed) -> float:
    """Mean relative error over parts as they come."""
    random, errors = Random(99), []
    for _ in range(200):
        seen = parts(random)
        actual_s = sum(factor * part_s for factor, part_s in zip(true, seen, strict=True))
        errors.append(abs((one.first * seen[0] + one.second * seen[1] + one.third * seen[2]) / actual_s - 1.0))
    return sum(errors) / len(errors)


def covariance(one: Regression) -> tuple[float, ...]:
    return one._p00, one._p11, one._p22, one._p01, one._p02, one._p12


def is_sane(one: Regression) -> bool:
    """Positive definite, by its leading minors."""
    p00, p11, p22, p01, p02, p12 = covariance(one)
    second = p00 * p11 - p01 * p01
    third = p00 * (p11 * p22 - p12 * p12) - p01 * (p01 * p22 - p12 * p02) + p02 * (p01 * p12 - p11 * p02)
    return p00 > 0 and second > 0 and third > 0 and max(p00, p11, p22) < 100


@pytest.mark.parametrize("true", [(1.5, 1.5, 1.5), (1.0, 2.0, 1.0), (0.8, 1.3, 0.6), (3.0, 0.7, 1.2)])
@pytest.mark.parametrize("doubt", [0.1, 0.4, 2.0])
def test_it_finds_the_true_factors_within_300_requests(true: Factors, doubt: float) -> None:
    one = regression(doubt)
    live(one, true, 300, noise=0.05)
    assert error(one, true) < 0.08


def test_parts_that_can_be_told_apart_are() -> None:
    one = regression()
    live(one, (2.0, 0.7, 1.5), 2000, noise=0.03)
    assert (one.first, one.second, one.third) == pytest.approx((2.0, 0.7, 1.5), rel=0.2)


@pytest.mark.parametrize("pull", [0.0, 0.002, 0.03])
@pytest.mark.parametrize("pace", [2.0, 0.5])
def test_it_follows_a_change_by_two_within_300_requests(pull: float, pace: float) -> None:
    one = regression(pull=pull)
    live(one, (1.0, 1.0, 1.0), 3000)
    live(one, (pace, pace, pace), 300, seed=2)
    assert error(one, (pace, pace, pace)) < 0.1


def test_factors_stay_positive_whatever_it_is_told() -> None:
    for actual_s in (1e-9, 1e9):
        one = regression(2.0)
        for _ in range(1000):
            one.learn(0.1, 0.2, 0.05, 0.0, actual_s)
            assert all(FACTOR_MIN <= factor <= FACTOR_MAX for factor in (one.first, one.second, one.third))


@pytest.mark.parametrize("parts", [(0.0, 0.0, 0.0), (0.1, 0.1, 0.1)])
def test_a_time_that_is_none_teaches_nothing(parts: Factors) -> None:
    one = regression()
    one.learn(*parts, 0.0, 0.0 if parts[0] else 1.0)
    assert (one.first, one.second, one.third) == (1.0, 1.0, 1.0)


def test_a_few_wild_samples_are_forgotten_within_a_hundred() -> None:
    one = regression()
    live(one, (1.0, 1.0, 1.0), 1000)
    for _ in range(5):
        one.learn(0.02, 0.2, 0.05, 0.0, 60.0)  # a stalled engine
    live(one, (1.0, 1.0, 1.0), 100, seed=3)
    assert error(one, (1.0, 1.0, 1.0)) < 0.1


def test_one_delayed_request_in_twenty_hardly_moves_it() -> None:
    one, random = regression(), Random(4)
    for _ in range(2000):
        seen = mixed(random)
        delay = 20.0 if random.random() < 0.05 else 1.0
        one.learn(*seen, 0.0, sum(seen) * delay * random.lognormvariate(0.0, 0.1))
    assert error(one, (1.0, 1.0, 1.0)) < 0.2


def test_a_part_that_is_never_seen_freezes_neither_the_others_nor_itself() -> None:
    one = regression()
    live(one, (1.0, 1.0, 1.0), 20_000, parts=without_third)
    assert is_sane(one)
    live(one, (2.0, 2.0, 1.0), 300, parts=without_third, seed=2)
    assert error(one, (2.0, 2.0, 1.0), without_third) < 0.1
    live(one, (2.0, 2.0, 3.0), 300, seed=3)
    assert error(one, (2.0, 2.0, 3.0)) < 0.1


def test_one_odd_sample_of_a_part_never_seen_does_not_settle_it() -> None:
    one = regression()
    live(one, (1.0, 1.0, 1.0), 20_000, parts=without_third)
    one.learn(0.02, 0.1, 0.1, 0.0, 10.0)
    assert one.third < 3.0


def test_it_still_learns_after_a_hundred_thousand_requests() -> None:
    one = regression(pull=0.002)
    live(one, (1.0, 1.0, 1.0), 100_000)
    assert is_sane(one)
    live(one, (2.0, 2.0, 2.0), 300, seed=2)
    assert error(one, (2.0, 2.0, 2.0)) < 0.1
    assert is_sane(one)


@pytest.mark.parametrize("parts", [lambda random: (0.1, 0.2, 0.05), without_third])
def test_requests_that_are_all_alike_do_not_make_it_wander_off(parts: Parts) -> None:
    one = regression(2.0)
    live(one, (1.2, 1.2, 1.2), 50_000, parts=parts)
    assert is_sane(one)
    assert all(0.2 < factor < 5.0 for factor in (one.first, one.second, one.third))
    assert error(one, (1.2, 1.2, 1.2), parts) < 0.1
