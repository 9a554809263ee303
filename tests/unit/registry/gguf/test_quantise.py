"""Formats of llama.cpp: near enough to what was quantised, and each tensor in the one that its file's name means."""

import gguf
import numpy as np
import pytest

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.gguf.precision import PRECISIONS, check_precision, kind_of
from heterodyne.registry.gguf.quantise import fitting, quantised

TYPE = gguf.GGMLQuantizationType
# Of each, the largest root mean square error of numbers whose spread is one.
ERRORS = {
    TYPE.F32: 0.0,
    TYPE.F16: 0.0005,
    TYPE.BF16: 0.005,
    TYPE.Q8_0: 0.01,
    TYPE.Q6_K: 0.03,
    TYPE.Q5_K: 0.06,
    TYPE.Q5_1: 0.06,
    TYPE.Q5_0: 0.07,
    TYPE.Q4_K: 0.11,
    TYPE.Q4_1: 0.11,
    TYPE.Q4_0: 0.13,
    TYPE.Q3_K: 0.25,
    TYPE.Q2_K: 0.5,
}


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.name)
def test_the_numbers_are_near_what_they_were(kind: TYPE) -> None:
    values = np.random.default_rng(5).standard_normal((16, 512)).astype(np.float32)
    made = quantised(values, kind)
    block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    assert len(made) == values.size // block * block_bytes
    raw = np.frombuffer(made, np.uint8).reshape(16, -1)
    plain = {TYPE.F32: "<f4", TYPE.F16: "<f2"}.get(kind)
    back = raw.view(plain).astype(np.float32) if plain is not None else gguf.dequantize(raw, kind)
    error = float(np.sqrt(np.mean((back.reshape(values.shape) - values) ** 2)))
    assert error <= ERRORS[kind]
    assert error >= ERRORS[kind] / 4, "the bound means something"


def test_rows_that_do_not_fill_a_block_have_a_narrower_one() -> None:
    assert fitting(TYPE.Q4_K, 512) is TYPE.Q4_K
    assert fitting(TYPE.Q4_K, 576) is TYPE.Q5_0
    assert fitting(TYPE.Q6_K, 576) is TYPE.Q8_0
    assert fitting(TYPE.Q4_0, 100) is TYPE.F16


def test_a_mix_gives_more_bits_to_what_matters_more() -> None:
    shape = (512, 512)
    assert kind_of("blk.0.attn_norm.weight", (512,), "q4_k_m", 16) is TYPE.F32
    assert kind_of("token_embd.weight", shape, "q4_k_m", 16) is TYPE.Q6_K
    assert kind_of("blk.8.attn_q.weight", shape, "q4_k_m", 16) is TYPE.Q4_K
    ones = [
        number for number in range(16) if kind_of(f"blk.{number}.ffn_down.weight", shape, "q4_k_m", 16) is TYPE.Q6_K
    ]
    assert ones == [0, 1, 4, 7, 10, 13, 14, 15]
    assert kind_of("blk.0.attn_v.weight", shape, "fp16", 16) is TYPE.F16


def test_a_precision_that_no_file_has_is_named() -> None:
    for name in PRECISIONS:
        check_precision(name)
    with pytest.raises(WeightsUnavailable, match='no precision "q9"'):
        check_precision("q9")
