"""What one request costs."""

import pytest

from heterodyne.domain.price import Price

HOSTED = Price(
    usd_per_million_prompt_tokens=3.0,
    usd_per_million_completion_tokens=15.0,
    usd_per_million_cached_tokens=0.3,
    usd_per_million_cache_write_tokens=3.75,
    long_prompt_tokens=200_000,
    long_usd_per_million_prompt_tokens=6.0,
    long_usd_per_million_completion_tokens=22.5,
    long_usd_per_million_cached_tokens=0.6,
    long_usd_per_million_cache_write_tokens=7.5,
)


def test_hosted_capacity_is_paid_by_the_token() -> None:
    price = Price(usd_per_million_prompt_tokens=3.0, usd_per_million_completion_tokens=15.0)
    assert price.usd(2000, 100, 99.0) == pytest.approx(0.0075)
    assert Price(usd_per_million_completion_tokens=15.0).usd(2000, 100, 0.0) == pytest.approx(0.0015)


def test_own_capacity_is_paid_by_the_share_of_its_time() -> None:
    assert Price(usd_per_hour=3.6).usd(2000, 100, 0.5) == pytest.approx(0.0005)


def test_what_nobody_says_is_not_known() -> None:
    assert Price().usd(2000, 100, 0.5) is None


def test_tokens_of_the_cache_have_prices_of_their_own() -> None:
    assert HOSTED.usd(10_000, 100, 0.0) == pytest.approx(0.0315)
    assert HOSTED.usd(10_000, 100, 0.0, 8_000) == pytest.approx(0.006 + 0.0024 + 0.0015)
    assert HOSTED.usd(10_000, 100, 0.0, 8_000, 1_000) == pytest.approx(0.003 + 0.0024 + 0.00375 + 0.0015)


def test_tokens_of_the_cache_cost_what_others_do_where_nobody_says() -> None:
    price = Price(usd_per_million_prompt_tokens=3.0)
    assert price.usd(10_000, 0, 0.0, 8_000, 1_000) == pytest.approx(0.03)


def test_more_tokens_of_the_cache_than_of_the_prompt_are_not_believed() -> None:
    assert HOSTED.usd(10_000, 0, 0.0, 50_000, 50_000) == pytest.approx(0.003)
    assert HOSTED.usd(10_000, 0, 0.0, -5, -5) == pytest.approx(0.03)


def test_a_long_prompt_has_all_of_its_request_billed_by_other_prices() -> None:
    assert HOSTED.usd(200_000, 1000, 0.0) == pytest.approx(0.615)
    assert HOSTED.usd(200_001, 1000, 0.0, 100_000) == pytest.approx((100_001 * 6 + 100_000 * 0.6 + 22_500) / 1e6)


def test_a_long_prompt_costs_what_a_short_one_does_where_nobody_says() -> None:
    price = Price(usd_per_million_prompt_tokens=3.0, usd_per_million_cached_tokens=0.3, long_prompt_tokens=1000)
    assert price.usd(2000, 0, 0.0, 1000) == pytest.approx(0.0033)


@pytest.mark.parametrize(("prompt", "cached"), [(10_000, 0), (10_000, 8_000), (300_000, 0), (300_000, 250_000), (0, 0)])
def test_a_plain_price_comes_to_the_same_for_its_prompt(prompt: int, cached: int) -> None:
    plain = HOSTED.plain(prompt, cached)
    assert plain.is_plain
    assert plain.usd(prompt, 500, 0.0) == pytest.approx(HOSTED.usd(prompt, 500, 0.0, cached))
    assert plain.plain(prompt, cached) is plain
