"""Moving KV against computing it: the published numbers."""

from math import inf

import pytest

from heterodyne.physics.hardware import Link
from heterodyne.physics.kv import kv_bytes_per_token
from heterodyne.physics.kv_transfer import break_even_bytes_per_s, break_even_tokens, choose, transfer_s
from heterodyne.physics.model_shapes import model_spec

LLAMA = kv_bytes_per_token(model_spec("llama-3.1-70b"))
QWEN = kv_bytes_per_token(model_spec("qwen3-32b"))


def link(gigabytes_per_s: float, latency_s: float = 0.0) -> Link:
    rate = gigabytes_per_s * 1e9
    return Link(name="link", bytes_per_s=rate, pair_bytes_per_s=rate, latency_s=latency_s)


@pytest.mark.parametrize(
    ("gigabytes_per_s", "seconds"),
    [(450, 0.024), (49.5, 0.217), (12.1, 0.89), (4.8, 2.2), (0.55, 19.5)],
    ids=["nvlink4", "ib-400", "roce-100", "tcp-uccl", "tcp-ucx-gpu"],
)
def test_a_32k_prompt_of_a_70b_takes_what_was_published(gigabytes_per_s: float, seconds: float) -> None:
    assert transfer_s(32_768 * LLAMA, link(gigabytes_per_s)) == pytest.approx(seconds, rel=0.02)


@pytest.mark.parametrize(("tokens_per_s", "gigabytes_per_s"), [(15_928, 4.2), (30_720, 8.1), (26_290, 6.9)])
def test_break_even_speed_of_qwen_matches_the_published(tokens_per_s: float, gigabytes_per_s: float) -> None:
    assert break_even_bytes_per_s(QWEN, tokens_per_s) / 1e9 == pytest.approx(gigabytes_per_s, rel=0.01)


def test_a_fast_link_fetches_and_a_slow_one_computes() -> None:
    fast = choose(32_768, kv_bytes_per_token=LLAMA, link=link(49.5), prefill_tokens_per_s=27_000)
    slow = choose(32_768, kv_bytes_per_token=LLAMA, link=link(0.55), prefill_tokens_per_s=27_000)
    assert fast.is_transfer
    assert not slow.is_transfer
    assert fast.recompute_s == slow.recompute_s == pytest.approx(1.21, rel=0.01)


def test_the_margin_and_the_queue_decide_close_calls() -> None:
    even = link(LLAMA * 10_000 / 1e9)

    def is_transfer(**more: float) -> bool:
        return choose(1000, kv_bytes_per_token=LLAMA, link=even, prefill_tokens_per_s=10_000, **more).is_transfer

    assert not is_transfer()
    assert is_transfer(queue_s=0.1)
    assert not is_transfer(queue_s=0.1, margin=2.0)


def test_short_prefixes_are_not_worth_the_latency() -> None:
    tokens = break_even_tokens(kv_bytes_per_token=LLAMA, link=link(49.5, 0.02), prefill_tokens_per_s=27_000)
    both = choose(tokens, kv_bytes_per_token=LLAMA, link=link(49.5, 0.02), prefill_tokens_per_s=27_000)
    assert both.transfer_s == pytest.approx(both.recompute_s)
    assert 100 < tokens < 10_000


def test_a_link_slower_than_computing_never_breaks_even() -> None:
    assert break_even_tokens(kv_bytes_per_token=LLAMA, link=link(1, 0.02), prefill_tokens_per_s=27_000) == inf
    assert (
        break_even_tokens(kv_bytes_per_token=LLAMA, link=link(1, 0.02), prefill_tokens_per_s=27_000, queue_s=1.0) == 0
    )
