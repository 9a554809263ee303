"""Fetching KV from another replica."""

import pytest

from heterodyne.physics.hardware import Link
from heterodyne.routing.kv.fetch import Fetch, Source, best_source, fetch_s

FAST = Link(name="fast", bytes_per_s=50e9, pair_bytes_per_s=50e9)
SLOW = Link(name="slow", bytes_per_s=0.1e9, pair_bytes_per_s=0.1e9)
KV_BYTES = 100_000.0


def best(*sources: Source, own: int = 0, rate: float = 10_000.0) -> Fetch | None:
    return best_source(sources, own_tokens=own, kv_bytes_per_token=KV_BYTES, prefill_tokens_per_s=rate)


def test_a_fetch_takes_its_setup_and_the_bytes_over_the_link() -> None:
    assert fetch_s(1000, KV_BYTES, FAST, setup_s=0.5) == pytest.approx(0.5 + 1e8 / 50e9, rel=1e-3)
    assert fetch_s(1000, KV_BYTES, FAST, share=0.5, setup_s=0) == pytest.approx(2e8 / 50e9, rel=1e-2)


def test_a_long_prefix_over_a_fast_link_is_fetched() -> None:
    fetch = best(Source(place=3, cached_tokens=20_000, link=FAST))
    assert fetch is not None
    assert (fetch.place, fetch.tokens) == (3, 20_000)
    assert fetch.fetch_s + fetch.saved_s == pytest.approx(2.0)


def test_only_what_the_target_lacks_is_fetched() -> None:
    fetch = best(Source(place=3, cached_tokens=20_000, link=FAST), own=15_000)
    assert fetch is not None
    assert fetch.tokens == 5_000


def test_a_slow_link_a_short_prefix_and_an_equal_one_are_computed() -> None:
    assert best(Source(place=3, cached_tokens=20_000, link=SLOW)) is None
    assert best(Source(place=3, cached_tokens=500, link=FAST)) is None
    assert best(Source(place=3, cached_tokens=20_000, link=FAST), own=20_000) is None
    assert best(Source(place=3, cached_tokens=20_000, link=FAST), own=30_000) is None
    assert best() is None


def test_the_source_that_saves_most_wins_and_it_need_not_hold_most() -> None:
    far, near = Source(place=1, cached_tokens=21_000, link=SLOW), Source(place=2, cached_tokens=20_000, link=FAST)
    fetch = best(far, near)
    assert fetch is not None
    assert fetch.place == 2


def test_a_gain_below_the_margin_is_left() -> None:
    takes_s = fetch_s(20_000, KV_BYTES, FAST)
    source = Source(place=1, cached_tokens=20_000, link=FAST)
    assert best(source, rate=20_000 / (takes_s * 1.05)) is None
    assert best(source, rate=20_000 / (takes_s * 1.2)) is not None
