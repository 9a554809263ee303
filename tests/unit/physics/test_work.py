"""Bytes and operations counted from a shape."""

import pytest
from msgspec import structs

from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.work import work
from tests.support.physics import DENSE, MIXTURE, demands


def test_weights_are_what_the_shape_says() -> None:
    attention = 2 * 1000 * 100 * (10 + 2)
    layers = 10 * (attention + 3 * 1000 * 4000)
    assert demands().dense_bytes == (layers + 1000 * 10_000) * 2
    assert demands().dense_flops_per_token == 2 * layers


def test_one_token_touches_the_active_share_and_many_touch_all() -> None:
    mixture = demands(MIXTURE)
    assert mixture.touched_share(0) == 0
    assert mixture.touched_share(1) == pytest.approx(4 / 64)
    assert mixture.touched_share(1000) == pytest.approx(1)
    assert demands(DENSE).touched_share(1000) == 0


def test_kv_of_a_70b_is_the_published_320_kib_a_token() -> None:
    llama = work(model_spec("llama-3.1-70b"), precision=Precision.BF16, kv_precision=Precision.BF16)
    assert llama.kv_bytes(1) == 327_680
    assert llama.kv_bytes(32_768) == 10 * 2**30


def test_windowed_layers_stop_growing() -> None:
    oss = work(model_spec("gpt-oss-120b"), precision=Precision.FP4, kv_precision=Precision.BF16)
    assert oss.kv_bytes(10_001) - oss.kv_bytes(10_000) == 36_864
    assert oss.kv_bytes(0) == 0


def test_a_four_bit_mixture_keeps_the_rest_at_sixteen_bits() -> None:
    spec = model_spec("gpt-oss-120b")
    four = work(spec, precision=Precision.FP4, kv_precision=Precision.BF16)
    sixteen = work(spec, precision=Precision.BF16, kv_precision=Precision.BF16)
    assert four.dense_bytes == sixteen.dense_bytes
    assert four.expert_bytes < sixteen.expert_bytes / 3


def test_cached_tokens_need_no_attention_again() -> None:
    dense = demands()
    assert dense.attention_flops(1000, 1000) == 0
    assert dense.attention_flops(1000, 0) == 10 * 10 * 4 * 100 * 1000 * 1000 / 2


def test_layers_count_by_the_kernels_they_launch() -> None:
    llama, deepseek = (
        work(model_spec(name), precision=Precision.FP8, kv_precision=Precision.FP8)
        for name in ("llama-3.1-70b", "deepseek-v3")
    )
    assert (llama.launches, llama.expert_launches) == (80, 0)
    assert (deepseek.launches, deepseek.expert_launches) == (61 * 1.5, 58 * 1.5)
    assert demands(MIXTURE).expert_launches == 10  # no shared expert
    linear = structs.replace(DENSE, window_tokens=100, windowed_layers=8, has_linear_attention=True)
    assert demands(linear).launches == 14
