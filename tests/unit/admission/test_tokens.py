"""Guesses that get better, and that no odd prompt makes worse."""

import pytest

from heterodyne.admission.tokens import FIXED_MAX, TokenEstimator

ACME, EVIL = b"acme", b"evil"


def test_the_first_guess_is_four_bytes_a_token_and_never_nothing() -> None:
    assert TokenEstimator().estimate("m", 400) == 100
    assert TokenEstimator().estimate("m", 0) == 1


def test_answers_correct_the_guess_of_their_model_alone() -> None:
    estimator = TokenEstimator()
    for _ in range(200):
        estimator.learn("m", 1000, 500)
    assert estimator.estimate("m", 1000) == 500
    assert estimator.estimate("n", 1000) == 250
    assert estimator.error_ratio["m"] < 0.01


def test_the_error_shows_when_prompts_change() -> None:
    estimator = TokenEstimator()
    estimator.learn("m", 1000, 250)
    assert estimator.error_ratio["m"] == 0.0
    estimator.learn("m", 1000, 125)
    assert estimator.error_ratio["m"] == pytest.approx(0.05)


def test_what_a_template_adds_to_every_prompt_is_no_rate() -> None:
    estimator = TokenEstimator()
    for _ in range(100):
        estimator.learn("m", 40, 40)
    assert estimator.estimate("m", 40) == pytest.approx(40, abs=2)
    assert estimator.estimate("m", 4000) == pytest.approx(1030, abs=10)


@pytest.mark.parametrize("counted", [(1, 1210), (5, 36), (2000, 2000), (100_000, 1)])
def test_one_odd_prompt_moves_the_estimate_by_a_step_and_no_more(counted: tuple[int, int]) -> None:
    """A message of five letters, counted with its template, once made a thousand letters look like 6,200 tokens."""
    estimator = TokenEstimator()
    estimator.learn("m", *counted, EVIL)
    assert estimator.estimate("m", 4000, EVIL) == pytest.approx(1000, rel=0.04)
    assert estimator.estimate("m", 4000, ACME) == pytest.approx(1000, rel=0.02)


def test_a_flood_of_odd_prompts_hardly_moves_what_other_tenants_prompts_are_taken_for() -> None:
    estimator = TokenEstimator()
    for _ in range(1000):
        estimator.learn("m", 1000, 1000, EVIL)
        estimator.learn("m", 10, 250, EVIL)
    assert estimator.estimate("m", 4000, EVIL) > 3000
    assert estimator.estimate("m", 4000, ACME) == pytest.approx(1000, rel=0.2)


def test_a_count_that_cannot_be_of_text_teaches_nothing() -> None:
    estimator = TokenEstimator()
    estimator.learn("m", 1000, 0)
    estimator.learn("m", 0, 10)
    estimator.learn("m", 100, round(FIXED_MAX) + 201)
    assert estimator.error_ratio == {}
    assert estimator.estimate("m", 400) == 100


def test_refused_prompts_bring_a_tenant_back_to_what_others_are_taken_for() -> None:
    estimator = TokenEstimator()
    for _ in range(200):
        estimator.learn("m", 1000, 900, ACME)
    assert estimator.estimate("m", 4000, ACME) > 3500
    for _ in range(30):
        estimator.doubt("m", ACME)
    assert estimator.estimate("m", 4000, ACME) == pytest.approx(estimator.estimate("m", 4000, b"new"), rel=0.01)
    estimator.doubt("never seen", ACME)
