"""Whatever a provider charges, a request never costs less for more tokens, and caches only change what they hold."""

import math

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.price import Price

RATES = st.floats(min_value=0.0, max_value=1e4, allow_nan=False)
TOKENS = st.integers(min_value=0, max_value=2_000_000)


@st.composite
def prices(draw: st.DrawFn) -> Price:
    """By the token; a long prompt costs no less than a short one, as with every provider."""
    prompt, completion = draw(RATES), draw(RATES)
    cached, write = draw(st.none() | RATES), draw(st.none() | RATES)
    if draw(st.booleans()):
        return Price(
            usd_per_million_prompt_tokens=prompt,
            usd_per_million_completion_tokens=completion,
            usd_per_million_cached_tokens=cached,
            usd_per_million_cache_write_tokens=write,
        )
    more = st.floats(min_value=1.0, max_value=4.0)
    return Price(
        usd_per_million_prompt_tokens=prompt,
        usd_per_million_completion_tokens=completion,
        usd_per_million_cached_tokens=cached,
        usd_per_million_cache_write_tokens=write,
        long_prompt_tokens=draw(st.integers(min_value=1, max_value=1_000_000)),
        long_usd_per_million_prompt_tokens=draw(st.none() | more.map(lambda times: times * prompt)),
        long_usd_per_million_completion_tokens=draw(st.none() | more.map(lambda times: times * completion)),
        long_usd_per_million_cached_tokens=None if cached is None else draw(more) * cached,
        long_usd_per_million_cache_write_tokens=None if write is None else draw(more) * write,
    )


def usd(price: Price, prompt: int, completion: int, cached: int = 0, written: int = 0) -> float:
    found = price.usd(prompt, completion, 0.0, cached, written)
    assert found is not None
    return found


def is_at_least(more: float, less: float) -> bool:
    return more >= less or math.isclose(more, less, rel_tol=1e-9, abs_tol=1e-12)


@given(prices(), TOKENS, TOKENS, st.integers(), st.integers())
def test_a_request_never_costs_less_than_nothing(
    price: Price, prompt: int, completion: int, cached: int, written: int
) -> None:
    assert usd(price, prompt, completion, cached, written) >= 0.0


@given(prices(), TOKENS, TOKENS, TOKENS, st.tuples(TOKENS, TOKENS))
def test_more_tokens_never_cost_less(
    price: Price, prompt: int, completion: int, cached: int, more: tuple[int, int]
) -> None:
    cached = min(cached, prompt)
    less = usd(price, prompt, completion, cached)
    assert is_at_least(usd(price, prompt + more[0], completion, cached), less)
    assert is_at_least(usd(price, prompt, completion + more[1], cached), less)


@given(RATES, RATES, TOKENS, TOKENS)
def test_without_a_cache_it_is_the_sum_of_both(
    prompt_usd: float, completion_usd: float, prompt: int, completion: int
) -> None:
    price = Price(
        usd_per_million_prompt_tokens=prompt_usd,
        usd_per_million_completion_tokens=completion_usd,
        usd_per_million_cached_tokens=prompt_usd / 10,
    )
    assert math.isclose(usd(price, prompt, completion), (prompt * prompt_usd + completion * completion_usd) / 1e6)


@given(prices(), TOKENS, TOKENS, TOKENS)
def test_what_a_recovered_request_is_billed_by_comes_to_what_was_forecast(
    price: Price, prompt: int, completion: int, cached: int
) -> None:
    plain = price.plain(prompt, cached)
    assert math.isclose(
        usd(plain, prompt, completion),
        usd(price, prompt, completion, cached if not price.is_plain else 0),
        rel_tol=1e-9,
        abs_tol=1e-12,
    )
