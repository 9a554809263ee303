"""Guesses that get better."""

import pytest

from heterodyne.admission.tokens import TokenEstimator


def test_the_first_guess_is_four_characters_a_token_and_never_nothing() -> None:
    assert TokenEstimator().estimate("m", 400) == 100
    assert TokenEstimator().estimate("m", 0) == 1


def test_answers_correct_the_guess_of_their_model_alone() -> None:
    estimator = TokenEstimator()
    for _ in range(200):
        estimator.learn("m", 1000, 500)
    assert estimator.estimate("m", 1000) == 500
    assert estimator.estimate("n", 1000) == 250
    assert estimator.error_ratio["m"] == pytest.approx(0.0)


def test_the_error_shows_when_prompts_change() -> None:
    estimator = TokenEstimator()
    estimator.learn("m", 1000, 500)
    estimator.learn("m", 1000, 250)
    assert estimator.error_ratio["m"] == pytest.approx(0.05)


def test_an_answer_without_a_count_teaches_nothing() -> None:
    estimator = TokenEstimator()
    estimator.learn("m", 1000, 0)
    estimator.learn("m", 0, 10)
    assert estimator.error_ratio == {}
