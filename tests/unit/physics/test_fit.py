"""Prices come back from points that were made with them."""

import numpy as np
import pytest

from heterodyne.physics.fit import fit_coefficients, fit_first_token, fit_first_token_freely, fit_prices, rescale
from heterodyne.physics.nnls import nonnegative_least_squares
from heterodyne.physics.prices import DATASHEET, Prices
from heterodyne.physics.serving import Load, serving_terms
from heterodyne.physics.terms import Terms
from tests.support.physics import placement

TRUE = Prices.of(value * 1.3 for value in DATASHEET.values())


def measured_terms() -> list[Terms]:
    return [
        serving_terms(
            placement(tp=tp),
            Load(concurrency=batch, prompt_tokens=prompt, output_tokens=output),
            running=batch,
        )
        for tp in (1, 2, 4)
        for batch in (1.0, 8.0, 64.0, 512.0)
        for prompt, output in ((128.0, 1024.0), (4096.0, 128.0))
    ]


def test_known_prices_predict_their_points_again() -> None:
    terms = measured_terms()
    seconds = [TRUE.seconds(one) for one in terms]
    found = fit_prices(terms, seconds, ridge=1e-9)
    assert [found.seconds(one) for one in terms] == pytest.approx(seconds, rel=1e-3)


def test_known_coefficients_are_recovered() -> None:
    features = np.random.default_rng(1).uniform(0.1, 1, (40, 5))
    true = np.array([2.0, 0.0, 1.0, 0.5, 3.0])
    assert fit_coefficients(features, features @ true, ridge=1e-12) == pytest.approx(true, abs=1e-4)


def test_one_odd_point_does_not_rule() -> None:
    features = np.random.default_rng(2).uniform(0.1, 1, (40, 3))
    true = np.array([2.0, 1.0, 3.0])
    seconds = features @ true
    seconds[0] *= 5
    assert fit_coefficients(features, seconds, ridge=1e-9) == pytest.approx(true, rel=0.05)


def test_without_points_on_a_term_its_prior_stays() -> None:
    terms = [one for one in measured_terms() if one.exchange == 0]
    found = fit_prices(terms, [TRUE.seconds(one) for one in terms], prior=DATASHEET)
    assert found.exchange == DATASHEET.exchange
    assert found.experts == DATASHEET.experts


def test_a_strong_ridge_keeps_the_prior_and_a_weak_one_follows_the_points() -> None:
    terms = measured_terms()[:16]
    seconds = [TRUE.seconds(one) for one in terms]
    held = fit_prices(terms, seconds, prior=DATASHEET, ridge=1e6)
    free = fit_prices(terms, seconds, prior=DATASHEET, ridge=1e-6)
    assert held.values() == pytest.approx(DATASHEET.values(), rel=1e-3)
    assert [free.seconds(one) for one in terms] == pytest.approx(seconds, rel=0.01)


def test_no_price_falls_below_a_quarter_of_its_prior() -> None:
    terms = measured_terms()
    found = fit_prices(terms, [one.weights * DATASHEET.weights for one in terms], prior=DATASHEET, ridge=1e-9)
    assert all(new >= old / 4 * (1 - 1e-9) for new, old in zip(found.values(), DATASHEET.values(), strict=True))


def test_a_term_the_points_hardly_contain_stays_near_its_prior() -> None:
    decode = [
        serving_terms(
            placement(tp=tp),
            Load(concurrency=2, prompt_tokens=16, output_tokens=8192),
            running=2,
        )
        for tp in (1, 2, 4)
    ]
    found = fit_prices(decode, [2 * DATASHEET.seconds(one) for one in decode], prior=DATASHEET, ridge=1e-2)
    assert found.prompt_compute == pytest.approx(DATASHEET.prompt_compute, rel=0.05)
    assert found.prompt_layer_s == pytest.approx(DATASHEET.prompt_layer_s, rel=0.05)


def test_rescaling_finds_how_much_slower_the_silicon_is() -> None:
    terms = measured_terms()
    found = rescale(DATASHEET, terms, [TRUE.seconds(one) for one in terms])
    assert found.values() == pytest.approx(TRUE.values())


def test_first_token_behaviour_is_recovered() -> None:
    prompts = [0.1 * (1 + index % 7) for index in range(60)]
    running = [1.0 + index % 11 for index in range(60)]
    waits = [0.05 + own * (1.5 + 0.2 * (many - 1)) for own, many in zip(prompts, running, strict=True)]
    found = fit_first_token(prompts, running, waits, ridge=1e-9)
    assert (found.prompt, found.queue, found.fixed_s) == pytest.approx((1.5, 0.2, 0.05), rel=1e-2)


def test_least_squares_without_negatives_matches_a_hand_made_case() -> None:
    # The free answer would be (2, -1); held at zero the first column alone gives 1.5.
    matrix = np.array([[1.0, 1.0], [1.0, 0.0]])
    target = np.array([1.0, 2.0])
    assert nonnegative_least_squares(matrix, target) == pytest.approx([1.5, 0.0])
    assert nonnegative_least_squares(matrix, -target) == pytest.approx([0.0, 0.0])


def test_many_points_tell_the_prompt_the_queue_and_the_steps_apart() -> None:
    rng = np.random.default_rng(1)
    prompts, running, steps = rng.uniform(0.01, 1, 200), rng.integers(1, 64, 200), rng.uniform(0.005, 0.05, 200)
    waits = 0.03 + 0.9 * prompts + 0.07 * prompts * (running - 1) + 3 * steps
    found = fit_first_token_freely(prompts, running, steps, waits, ridge=1e-9)
    assert (found.prompt, found.queue, found.fixed_s, found.steps) == pytest.approx((0.9, 0.07, 0.03, 3), rel=1e-2)


def test_a_group_of_many_points_counts_no_more_than_one_of_few() -> None:
    features, measured = np.ones((10, 1)), np.array([1.0] * 9 + [2.0])
    alike = fit_coefficients(features, measured)
    evenly = fit_coefficients(features, measured, weights=np.array([1 / 9] * 9 + [1.0]))
    assert alike[0] < evenly[0]
