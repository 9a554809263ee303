"""What is left of a provider's rate limits, from one answer to the next."""

import pytest

from heterodyne.domain.provider_limit import INPUT_TOKENS, OUTPUT_TOKENS, REQUESTS, TOKENS, ProviderLimit
from heterodyne.routing.health.rate_limits import HOLD_MAX_S, RateLimits


def told(*limits: ProviderLimit) -> RateLimits:
    rate_limits = RateLimits()
    rate_limits.on_told(limits, 0.0)
    return rate_limits


def test_one_that_has_said_nothing_is_not_waited_for() -> None:
    assert not RateLimits().is_spent(0.0, 1000)
    assert not RateLimits().is_low


def test_one_with_nothing_left_is_asked_again_at_its_reset() -> None:
    rate_limits = told(ProviderLimit(REQUESTS, 0, None, 20.0))
    assert rate_limits.is_low
    assert rate_limits.is_spent(0.0, 1)
    assert rate_limits.wait_s == 20.0
    assert rate_limits.is_spent(19.9, 1)
    assert not rate_limits.is_spent(20.0, 1)
    rate_limits.advance(20.0)
    assert not rate_limits.is_low


def test_a_limit_comes_back_bit_by_bit_until_it_is_full_at_its_reset() -> None:
    """60 in a minute: the next is there after a second."""
    rate_limits = told(ProviderLimit(REQUESTS, 0, 60, 60.0))
    assert rate_limits.is_spent(0.9, 1)
    assert rate_limits.wait_s == pytest.approx(0.1)
    assert not rate_limits.is_spent(1.01, 1)
    assert rate_limits.remaining(30.0) == {REQUESTS: pytest.approx(30.0)}
    assert rate_limits.remaining(600.0) == {REQUESTS: 60}


def test_what_we_send_is_taken_off_until_the_next_answer() -> None:
    rate_limits = told(ProviderLimit(REQUESTS, 2, None, 50.0))
    rate_limits.on_start(1.0)
    assert not rate_limits.is_low
    rate_limits.on_start(1.0)
    assert rate_limits.is_low
    assert rate_limits.is_spent(1.0, 1)
    rate_limits.on_told([ProviderLimit(REQUESTS, 1, None, 50.0)], 2.0)
    assert not rate_limits.is_low
    assert not rate_limits.is_spent(2.0, 1)


@pytest.mark.parametrize("what", [TOKENS, INPUT_TOKENS])
def test_a_long_prompt_waits_for_tokens_where_a_short_one_need_not(what: str) -> None:
    rate_limits = told(ProviderLimit(what, 500, 30_000, 59.0))  # 500 more come in a second
    assert rate_limits.is_low
    assert not rate_limits.is_spent(0.0, 400)
    assert rate_limits.is_spent(0.0, 1000)
    assert rate_limits.wait_s == pytest.approx(1.0)


def test_a_prompt_never_waits_for_more_than_a_share_of_the_limit() -> None:
    """What is cached of it may not count."""
    rate_limits = told(ProviderLimit(INPUT_TOKENS, 3000, 30_000, 54.0))
    assert not rate_limits.is_low
    assert not rate_limits.is_spent(0.0, 200_000)


def test_a_prompt_says_nothing_of_the_tokens_of_its_answer() -> None:
    rate_limits = told(ProviderLimit(OUTPUT_TOKENS, 5, 8000, 60.0))
    assert not rate_limits.is_spent(0.0, 100_000)
    assert told(ProviderLimit(OUTPUT_TOKENS, 0, None, 9.0)).is_spent(0.0, 0)


def test_a_refusal_is_believed_on_when_to_come_back() -> None:
    rate_limits = RateLimits()
    rate_limits.on_refused(7.0, 100.0)
    assert rate_limits.is_low
    assert rate_limits.is_spent(106.9, 1)
    assert not rate_limits.is_spent(107.0, 1)


def test_a_refusal_without_a_time_waits_for_all_of_what_is_spent() -> None:
    rate_limits = told(ProviderLimit(REQUESTS, 0, 60, 30.0), ProviderLimit(TOKENS, 5000, 6000, 50.0))
    rate_limits.on_refused(None, 0.0)
    assert rate_limits.is_spent(29.9, 1)
    assert not rate_limits.is_spent(30.0, 1)


def test_a_refusal_that_says_nothing_at_all_is_left_to_the_pause() -> None:
    rate_limits = RateLimits()
    rate_limits.on_refused(None, 0.0)
    assert not rate_limits.is_spent(0.0, 1)


def test_nobody_waits_for_ever() -> None:
    rate_limits = told(ProviderLimit(REQUESTS, 0, None, 1e9))
    rate_limits.on_refused(1e9, 0.0)
    assert rate_limits.is_spent(HOLD_MAX_S - 1, 1)
    assert not rate_limits.is_spent(HOLD_MAX_S, 1)


def test_where_the_reset_is_not_said_it_is_soon_asked_again() -> None:
    rate_limits = told(ProviderLimit(REQUESTS, 0))
    assert rate_limits.is_spent(0.5, 1)
    assert not rate_limits.is_spent(1.0, 1)


def test_a_limit_of_nothing_does_not_stop_it_for_ever() -> None:
    rate_limits = told(ProviderLimit(REQUESTS, 0, 0, 3.0))
    assert rate_limits.is_spent(2.9, 1)
    assert not rate_limits.is_spent(3.0, 1)
