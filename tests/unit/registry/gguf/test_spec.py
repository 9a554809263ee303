"""Shapes read from GGUF files, small ones written here."""

from pathlib import Path

import gguf
import numpy as np
import pytest

from heterodyne.domain.errors import InvalidSpec, WeightsCorrupt, WeightsUnavailable
from heterodyne.physics.model_spec import LatentAttention
from heterodyne.physics.parameters import parameters
from heterodyne.physics.precision import Precision
from heterodyne.registry.gguf.spec import spec_from_gguf

SMALL = {
    "block_count": 2,
    "context_length": 512,
    "embedding_length": 64,
    "feed_forward_length": 128,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
    "vocab_size": 100,
}


def written(
    path: Path, shape: dict[str, int], architecture: str = "llama", tensors: tuple[str, ...] = ("token_embd.weight",)
) -> Path:
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in shape.items():
        writer.add_uint32(f"{architecture}.{key}", value)
    for name in tensors:
        writer.add_tensor(name, np.zeros((100, 64), dtype=np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_the_shape_is_read(tmp_path: Path) -> None:
    spec = spec_from_gguf(written(tmp_path / "tiny.gguf", SMALL))
    assert (spec.name, spec.layers, spec.hidden, spec.heads, spec.kv_heads) == ("tiny", 2, 64, 4, 2)
    assert (spec.head_dim, spec.intermediate, spec.vocabulary, spec.context_tokens) == (16, 128, 100, 512)
    assert spec.has_tied_embeddings
    assert (spec.checkpoint_precision, spec.checkpoint_bytes) == (Precision.FP16, 100 * 64 * 2)
    assert parameters(spec).total == 100 * 64 + 2 * (64 * 64 * 2 + 2 * 64 * 32 + 3 * 64 * 128) + 5 * 64


def test_a_head_of_its_own_is_seen(tmp_path: Path) -> None:
    tensors = ("token_embd.weight", "output.weight")
    assert not spec_from_gguf(written(tmp_path / "a.gguf", SMALL, tensors=tensors)).has_tied_embeddings


def test_experts_are_read(tmp_path: Path) -> None:
    more = {"expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 32}
    spec = spec_from_gguf(written(tmp_path / "a.gguf", {**SMALL, **more}, architecture="qwen3moe"))
    assert spec.experts is not None
    assert (spec.experts.count, spec.experts.active, spec.experts.intermediate) == (8, 2, 32)


def test_a_latent_is_read(tmp_path: Path) -> None:
    more = {
        "attention.head_count_kv": 1,
        "attention.kv_lora_rank": 32,
        "attention.key_length": 40,
        "attention.key_length_mla": 24,
        "attention.value_length_mla": 16,
        "rope.dimension_count": 8,
    }
    spec = spec_from_gguf(written(tmp_path / "a.gguf", {**SMALL, **more}, architecture="deepseek2"))
    assert spec.latent == LatentAttention(kv_rank=32, rope_dim=8, nope_dim=16, value_dim=16)
    assert spec.kv_heads == 4


def test_windows_are_read(tmp_path: Path) -> None:
    spec = spec_from_gguf(written(tmp_path / "a.gguf", {**SMALL, "attention.sliding_window": 64}, "gemma2"))
    assert (spec.window_tokens, spec.windowed_layers) == (64, 1)


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ({**SMALL, "block_count": 0}, "a.gguf: block_count is 0; expected a whole number, 1 or more"),
        ({key: SMALL[key] for key in SMALL if key != "context_length"}, "a.gguf: context_length is missing"),
        ({**SMALL, "expert_count": 2, "expert_used_count": 3}, "3 is more than the 2 experts"),
    ],
)
def test_a_key_that_makes_no_sense_is_named(tmp_path: Path, shape, reason) -> None:
    with pytest.raises(InvalidSpec, match=reason):
        spec_from_gguf(written(tmp_path / "a.gguf", shape))


def test_the_vocabulary_may_be_counted_from_its_tokens(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "llama")
    for key, value in SMALL.items():
        if key != "vocab_size":
            writer.add_uint32(f"llama.{key}", value)
    writer.add_token_list([f"token{number}" for number in range(5000)])
    writer.add_token_scores([0.0] * 5000)
    writer.add_tensor("token_embd.weight", np.zeros((5000, 64), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    spec = spec_from_gguf(tmp_path / "a.gguf")
    assert (spec.vocabulary, spec.checkpoint_precision, spec.checkpoint_bytes) == (5000, Precision.FP32, 1_280_000)


def test_every_cut_inside_the_head_is_found(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole.gguf", SMALL).read_bytes()
    cut = tmp_path / "cut.gguf"
    for length in range(len(whole) - 100 * 64 * 2 - 64):  # before the padding and the one tensor
        cut.write_bytes(whole[:length])
        with pytest.raises(WeightsCorrupt):
            spec_from_gguf(cut)


@pytest.mark.parametrize("content", [b"", b"GGUF", b"not a model at all", b"GGUF\x03\x00\x00\x00" + b"\xff" * 16])
def test_a_file_that_is_no_gguf_is_corrupt(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.gguf").write_bytes(content)
    with pytest.raises(WeightsCorrupt, match="is not a readable GGUF file"):
        spec_from_gguf(tmp_path / "a.gguf")


def test_a_file_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(WeightsUnavailable, match="No such file"):
        spec_from_gguf(tmp_path / "a.gguf")
