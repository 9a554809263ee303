"""Bytes of keys and values, exact."""

import pytest

from heterodyne.physics.kv import kv_bytes_per_sequence, kv_bytes_per_token, kv_share
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision

MULTI_HEAD_70B = ModelSpec(
    name="multi-head-70b",
    layers=80,
    hidden=8192,
    heads=64,
    kv_heads=64,
    head_dim=128,
    intermediate=28672,
    vocabulary=32000,
    context_tokens=131_072,
)


@pytest.mark.parametrize(
    ("model", "bytes_per_token", "gib_at_32k"),
    [
        ("llama-3.1-8b", 131_072, 4.0),
        ("llama-3.1-70b", 327_680, 10.0),
        ("qwen2.5-72b", 327_680, 10.0),
        ("llama-3.1-405b", 516_096, 15.75),
        ("mixtral-8x22b", 229_376, 7.0),
        ("qwen3-32b", 262_144, 8.0),
        ("qwen3-235b-a22b", 192_512, 5.875),
        ("qwen3-30b-a3b", 98_304, 3.0),
        ("gpt-oss-120b", 36_864, 1.125 + 4.5 / 1024),
        ("deepseek-v3", 70_272, 70_272 / 2**15),
        ("mistral-small-24b", 163_840, 5.0),
    ],
)
def test_bytes_per_token_are_exact(model: str, bytes_per_token: int, gib_at_32k: float) -> None:
    spec = model_spec(model)
    assert kv_bytes_per_token(spec) == bytes_per_token
    assert kv_bytes_per_token(spec, Precision.FP8) == bytes_per_token / 2
    assert kv_bytes_per_sequence(spec, 32_768) == gib_at_32k * 2**30


def test_without_shared_heads_a_70b_needs_eight_times_as_much() -> None:
    assert kv_bytes_per_token(MULTI_HEAD_70B) == 2_621_440
    assert kv_bytes_per_sequence(MULTI_HEAD_70B, 32_768) == 80 * 2**30


def test_a_window_stops_growing() -> None:
    spec = model_spec("gpt-oss-120b")
    grown = kv_bytes_per_sequence(spec, 129) - kv_bytes_per_sequence(spec, 128)
    assert grown == kv_bytes_per_token(spec) == 36_864
    assert kv_bytes_per_sequence(spec, 128) == 2 * 128 * 36_864


def test_heads_are_dealt_out_until_there_is_one_each() -> None:
    spec = model_spec("llama-3.1-70b")  # 8 KV heads
    assert [kv_share(spec, tp) for tp in (1, 2, 4, 8, 16)] == [1, 1 / 2, 1 / 4, 1 / 8, 1 / 8]


def test_a_latent_is_on_every_chip() -> None:
    assert kv_share(model_spec("deepseek-r1"), 8) == 1.0
