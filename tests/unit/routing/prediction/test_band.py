"""The band around a prediction: it covers eight in ten, whatever the errors look like."""

from collections.abc import Callable
from math import inf, log, sin
from random import Random

import pytest

from heterodyne.routing.prediction.band import WINDOW_MAX, Band

Error = Callable[[Random], float]  # actual / predicted

ERRORS: dict[str, Error] = {
    "normal": lambda random: random.lognormvariate(0.0, 0.2),
    "narrow": lambda random: random.lognormvariate(0.0, 0.03),
    "wide": lambda random: random.lognormvariate(0.0, 0.8),
    "biased": lambda random: random.lognormvariate(0.5, 0.2),
    "skewed": lambda random: 0.8 + random.expovariate(2.0),
    "even": lambda random: random.uniform(0.5, 1.5),
    "mostly right": lambda random: 1.0 if random.random() < 0.5 else random.lognormvariate(0.0, 0.5),
}


def learn(band: Band, error: Error, samples: int, seed: int = 1) -> float:
    """The share of samples that fell inside the band as it was before each, as it counts them itself."""
    random, inside, before = Random(seed), 0, band.covered
    for _ in range(samples):
        actual_s = error(random)
        inside += band.low <= actual_s <= band.high
        band.learn(1.0, actual_s, band.low, band.high)
    assert band.covered - before == inside
    return inside / samples


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_eight_in_ten_fall_inside_whatever_the_errors_look_like(error: Error) -> None:
    band = Band()
    learn(band, error, 500)
    assert 0.75 <= learn(band, error, 5000, seed=2) <= 0.85


@pytest.mark.parametrize("name", ["normal", "wide", "skewed", "even"])
def test_it_is_not_far_off_while_it_learns(name: str) -> None:
    band = Band()
    assert 0.7 <= learn(band, ERRORS[name], 50) <= 0.95


def test_it_widens_when_predictions_become_worse_and_narrows_again() -> None:
    band = Band()
    learn(band, ERRORS["normal"], 1000)
    before = band.high / band.low
    learn(band, ERRORS["wide"], 300)
    assert band.high / band.low > 2 * before
    learn(band, ERRORS["normal"], 4000)
    assert band.high / band.low == pytest.approx(before, rel=0.3)


def test_what_a_bad_minute_has_widened_is_narrow_again_once_it_has_left_the_window() -> None:
    band = Band()
    learn(band, ERRORS["narrow"], 1000)
    before = band.high / band.low
    learn(band, ERRORS["wide"], 100)
    learn(band, ERRORS["narrow"], 2 * WINDOW_MAX, seed=2)
    assert log(band.high / band.low) < 2 * log(before)


def test_it_is_wide_at_first_and_narrow_after_50_predictions_that_were_right() -> None:
    band = Band()
    assert band.high / band.low > 2.5
    learn(band, ERRORS["narrow"], 50)
    assert band.high / band.low < 1.2


def test_it_covers_eight_in_ten_though_what_is_foretold_is_measured_much_later() -> None:
    band, random, inside, foretold = Band(), Random(4), 0, []
    for number in range(3000):
        foretold.append((band.low, band.high))
        if number >= 64:
            low, high = foretold[number - 64]
            actual_s = random.lognormvariate(0.1 * sin(number / 60), 0.1)  # off in one direction for a while
            inside += low <= actual_s <= high
            band.learn(1.0, actual_s, low, high)
    assert 0.75 <= inside / (3000 - 64) <= 0.85


def test_the_longer_a_promise_the_less_likely_it_is_broken() -> None:
    band = Band()
    learn(band, ERRORS["normal"], 500)
    chances = [band.miss(1.0, limit_s) for limit_s in (0.01, 0.5, 0.9, 1.0, 1.1, 2.0, 100.0, inf)]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > 0.99
    assert chances[-1] == 0.0


def test_the_later_a_prediction_the_likelier_the_promise_is_broken() -> None:
    band = Band()
    chances = [band.miss(predicted_s, 1.0) for predicted_s in (1e-6, 0.1, 0.5, 1.0, 2.0, 1e6)]
    assert chances == sorted(chances)
    assert all(0.0 <= chance <= 1.0 for chance in chances)


@pytest.mark.parametrize("name", ["normal", "wide", "biased"])
def test_the_chance_of_a_miss_is_the_share_of_misses(name: str) -> None:
    band, random = Band(), Random(3)
    learn(band, ERRORS[name], 3000)
    for limit_s in (0.8, 1.0, 1.5):
        missed = sum(ERRORS[name](random) > limit_s for _ in range(5000)) / 5000
        assert band.miss(1.0, limit_s) == pytest.approx(missed, abs=0.08)


def test_a_promise_far_beyond_the_prediction_can_be_weighed() -> None:
    band = Band()
    learn(band, lambda random: 1.0, 2000)  # as sure as it gets
    assert band.miss(1e-4, 3.15e7) == pytest.approx(0.0)  # a year, and a step of a small model


@pytest.mark.parametrize("limit_s", [1e-9, 1.0, 86_400.0])
def test_no_promise_is_too_long_or_too_short_to_be_weighed(limit_s: float) -> None:
    band = Band()
    learn(band, lambda random: 1.0, 2000)  # as sure as it gets
    assert 0.0 <= band.miss(1e-4, limit_s) <= 1.0


def test_a_time_that_is_none_teaches_nothing() -> None:
    band = Band()
    band.learn(0.0, 1.0, 0.0, 2.0)
    band.learn(1.0, 0.0, 0.5, 2.0)
    assert band.samples == 0


def test_it_is_lost_only_when_predictions_are_off_by_two_as_a_rule() -> None:
    band = Band()
    learn(band, lambda random: 8.0, 10)
    assert not band.is_lost  # ten may be chance
    learn(band, lambda random: 8.0, 100)
    assert band.is_lost
    learn(band, ERRORS["normal"], 300)
    assert not band.is_lost


def test_one_sample_beyond_all_measure_does_not_blow_it_up() -> None:
    band = Band()
    learn(band, ERRORS["normal"], 500)
    before = band.high
    band.learn(1.0, 1e9, band.low, band.high)
    assert band.high < 1.2 * before
