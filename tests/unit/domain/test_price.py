"""What one request costs on a replica."""

import pytest

from heterodyne.domain.fleet import Price


def test_hosted_requests_cost_what_the_price_list_says() -> None:
    price = Price(usd_per_million_prompt_tokens=3.0, usd_per_million_completion_tokens=15.0)
    assert price.usd(2000, 100, 99.0) == pytest.approx(0.0075)
    assert Price(usd_per_million_completion_tokens=15.0).usd(2000, 100, 0.0) == pytest.approx(0.0015)


def test_own_requests_cost_their_share_of_the_hour() -> None:
    assert Price(usd_per_hour=3.6).usd(2000, 100, 0.5) == pytest.approx(0.0005)


def test_without_a_price_nothing_can_be_said() -> None:
    assert Price().usd(2000, 100, 0.5) is None
