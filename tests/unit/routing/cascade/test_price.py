"""Risks for the price of the big answer."""

import numpy as np
import pytest

from heterodyne.routing.cascade.price import EVEN_PRICE, BigPrice, fit_price, priced


def test_a_line_is_found_through_prices_that_grow_with_the_prompt() -> None:
    lengths = np.array([100.0, 200, 300, 1000])
    price = fit_price(lengths, 0.002 + 1e-5 * lengths)
    assert (price.usd_base, price.usd_per_character) == (pytest.approx(0.002), pytest.approx(1e-5))
    assert price.relative("x" * 400) == pytest.approx(1.0)
    assert price.relative("x" * 10_000_000) == 20
    assert BigPrice(usd_base=-1, usd_per_character=0.1, usd_mean=1).relative("") == 0.05


def test_prices_that_do_not_grow_weigh_nothing() -> None:
    lengths = np.array([100.0, 200, 300])
    for usd in (np.zeros(3), np.ones(3), np.array([3.0, 2, 1])):
        assert fit_price(lengths, usd) == EVEN_PRICE
    assert fit_price(np.ones(3), lengths) == EVEN_PRICE
    assert EVEN_PRICE.relative("anything") == 1


def test_a_dear_answer_is_asked_for_later_and_no_weight_makes_an_unusable_one_usable() -> None:
    assert priced(0.7, 5) < priced(0.7, 1) < priced(0.7, 0.2) < 1
    assert priced(0.3, 5) > priced(0.3, 1) > priced(0.3, 0.2) > 0
    assert priced(0.5, 5) == priced(0.5, 0.1) == 0.5
    ladder = [priced(risk / 100, 3) for risk in range(101)]
    assert ladder == sorted(ladder)
    assert priced(1.0, 20) == 1.0
