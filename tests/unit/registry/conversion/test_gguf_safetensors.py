"""A Llama GGUF becomes a folder with the same weights, shape and tokenizer under the names others look for."""

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from safetensors.numpy import load_file

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.conversion.gguf_safetensors import gguf_to_safetensors as convert
from heterodyne.registry.gguf.rotations import join_rotations, split_rotations
from heterodyne.registry.tensors.checkpoint import open_checkpoint

HIDDEN, HEADS, KV_HEADS, HEAD_DIM, LAYERS = 32, 4, 2, 8, 2
TOKENS = ["<|end|>", "<|im_start|>", "a", "b", "ab", "Ġ"]
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
SHAPES = {
    "attn_norm.weight": (HIDDEN,),
    "attn_q.weight": (HEADS * HEAD_DIM, HIDDEN),
    "attn_k.weight": (KV_HEADS * HEAD_DIM, HIDDEN),
    "attn_v.weight": (KV_HEADS * HEAD_DIM, HIDDEN),
    "attn_output.weight": (HIDDEN, HEADS * HEAD_DIM),
    "ffn_norm.weight": (HIDDEN,),
    "ffn_gate.weight": (64, HIDDEN),
    "ffn_up.weight": (64, HIDDEN),
    "ffn_down.weight": (HIDDEN, 64),
}


def llama_gguf(path: Path, weights: dict[str, np.ndarray] | None = None, **fields: Any) -> Path:
    """A small Llama; `fields` replace what its head says, None leaves it out."""
    writer = gguf.GGUFWriter(path, fields.pop("architecture", "llama"))
    said = {"context_length": 128, "embedding_length": HIDDEN, "feed_forward_length": 64, "block_count": LAYERS}
    said |= {"attention.head_count": HEADS, "attention.head_count_kv": KV_HEADS, "expert_count": 0}
    for name, value in said.items():
        if (value := fields.get(name, value)) is not None:
            writer.add_uint32(f"llama.{name}", value)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(100_000.0)
    writer.add_tokenizer_model(fields.get("tokenizer", "gpt2"))
    writer.add_tokenizer_pre(fields.get("pre", "smollm"))
    writer.add_token_list(TOKENS)
    writer.add_token_types([gguf.TokenType.CONTROL] * 2 + [gguf.TokenType.NORMAL] * 4)
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(0)
    writer.add_chat_template(TEMPLATE)
    for name, values in (random_weights() if weights is None else weights).items():
        if values.ndim == 1:
            writer.add_tensor(name, values)
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def random_weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    names = {"token_embd.weight": (len(TOKENS), HIDDEN), "output_norm.weight": (HIDDEN,)}
    names |= {f"blk.{layer}.{part}": shape for layer in range(LAYERS) for part, shape in SHAPES.items()}
    return {name: rng.standard_normal(shape, np.float32) for name, shape in names.items()}


def test_every_weight_arrives_under_its_other_name(tmp_path: Path) -> None:
    weights = random_weights()
    convert(llama_gguf(tmp_path / "m.gguf", weights), tmp_path / "out")
    tensors = load_file(tmp_path / "out" / "model.safetensors")
    assert len(tensors) == len(weights)
    assert {values.dtype for values in tensors.values()} == {np.dtype(np.float16)}
    layer = "model.layers.1"
    for name, theirs in {
        "token_embd.weight": "model.embed_tokens.weight",
        "output_norm.weight": "model.norm.weight",
        "blk.1.attn_v.weight": f"{layer}.self_attn.v_proj.weight",
        "blk.1.attn_output.weight": f"{layer}.self_attn.o_proj.weight",
        "blk.1.ffn_down.weight": f"{layer}.mlp.down_proj.weight",
        "blk.1.ffn_norm.weight": f"{layer}.post_attention_layernorm.weight",
    }.items():
        assert np.allclose(tensors[theirs], weights[name], atol=0.03), name
    for name, heads in (("q", HEADS), ("k", KV_HEADS)):
        turned = split_rotations(weights[f"blk.1.attn_{name}.weight"], heads)
        assert np.allclose(tensors[f"{layer}.self_attn.{name}_proj.weight"], turned, atol=0.03)


def test_the_config_tells_the_same_shape(tmp_path: Path) -> None:
    convert(llama_gguf(tmp_path / "m.gguf"), tmp_path / "out")
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert (config["hidden_size"], config["num_hidden_layers"], config["vocab_size"]) == (HIDDEN, LAYERS, len(TOKENS))
    assert (config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]) == (4, 2, HEAD_DIM)
    assert (config["rms_norm_eps"], config["rope_theta"], config["max_position_embeddings"]) == (1e-5, 100_000.0, 128)
    assert (config["tie_word_embeddings"], config["bos_token_id"], config["eos_token_id"]) == (True, 1, 0)


def test_a_head_of_its_own_is_kept(tmp_path: Path) -> None:
    head = np.ones((len(TOKENS), HIDDEN), np.float32)
    convert(llama_gguf(tmp_path / "m.gguf", {**random_weights(), "output.weight": head}), tmp_path / "out")
    assert json.loads((tmp_path / "out" / "config.json").read_text())["tie_word_embeddings"] is False
    assert load_file(tmp_path / "out" / "model.safetensors")["lm_head.weight"].shape == head.shape


def test_tokenizer_and_chat_template_come_along(tmp_path: Path) -> None:
    convert(llama_gguf(tmp_path / "m.gguf"), tmp_path / "out")
    tokenizer = json.loads((tmp_path / "out" / "tokenizer.json").read_text())
    assert tokenizer["model"]["vocab"] == {token: index for index, token in enumerate(TOKENS)}
    assert tokenizer["model"]["merges"] == [["a", "b"]]
    added = [(token["id"], token["content"], token["special"]) for token in tokenizer["added_tokens"]]
    assert added == [(0, "<|end|>", True), (1, "<|im_start|>", True)]
    config = json.loads((tmp_path / "out" / "tokenizer_config.json").read_text())
    assert (config["eos_token"], config["bos_token"], config["chat_template"]) == ("<|end|>", "<|im_start|>", TEMPLATE)


def test_turned_rows_give_the_same_attention_under_the_other_rotation() -> None:
    """Neighbours turned together by llama.cpp, halves by the others: scores of two positions have to agree."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, HIDDEN))
    query, key = rng.standard_normal((2, HEAD_DIM, HIDDEN))
    frequencies = 100.0 ** -(np.arange(HEAD_DIM // 2) / (HEAD_DIM // 2))

    def turned(vector: np.ndarray, position: int, first: slice, second: slice) -> np.ndarray:
        angle, result = position * frequencies, np.empty(HEAD_DIM)
        result[first] = vector[first] * np.cos(angle) - vector[second] * np.sin(angle)
        result[second] = vector[first] * np.sin(angle) + vector[second] * np.cos(angle)
        return result

    neighbours, halves = (slice(0, None, 2), slice(1, None, 2)), (slice(0, 4), slice(4, 8))
    theirs = turned(query @ x[0], 5, *neighbours) @ turned(key @ x[1], 2, *neighbours)
    query, key = split_rotations(query, 1), split_rotations(key, 1)
    assert turned(query @ x[0], 5, *halves) @ turned(key @ x[1], 2, *halves) == pytest.approx(theirs)


def test_rotations_joined_and_split_are_what_they_were() -> None:
    weights = np.arange(32 * 3, dtype=np.float32).reshape(32, 3)
    np.testing.assert_array_equal(split_rotations(join_rotations(weights, 4), 4), weights)
    np.testing.assert_array_equal(split_rotations(join_rotations(weights[:, 0], 4), 4), weights[:, 0])  # of a bias


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"architecture": "mamba"}, 'architecture "mamba" is not known'),
        ({"expert_count": 8}, "has 8 experts"),
        ({"tokenizer": "t5"}, 'tokenizer "t5"'),
        ({"pre": "tekken"}, 'cut as "tekken"'),
        ({"weights": {**random_weights(), "rope_freqs.weight": np.full(4, 3, np.float32)}}, "rope_freqs.weight"),
    ],
)
def test_what_would_come_out_different_is_refused(tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    with pytest.raises(WeightsUnavailable, match=words):
        convert(llama_gguf(tmp_path / "m.gguf", **fields), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["m.gguf"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"blk.0.attn_q.bias": np.ones(HIDDEN, np.float32)}, 'has a tensor "blk.0.attn_q.bias"'),
        ({"blk.1.ffn_up.weight": None}, 'has no tensor "model.layers.1.mlp.up_proj.weight"'),
        ({"blk.1.ffn_up.weight": np.ones((32, HIDDEN), np.float32)}, r"up_proj.weight\" is \[32, 32\]; by its config"),
    ],
)
def test_tensors_that_are_not_those_of_the_model_are_named(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    weights = {name: values for name, values in {**random_weights(), **changed}.items() if values is not None}
    with pytest.raises(WeightsCorrupt, match=words):
        convert(llama_gguf(tmp_path / "m.gguf", weights), tmp_path / "out")


def test_a_file_that_is_no_gguf_was_cut_or_lacks_a_number_is_corrupt(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF is not what this is")
    with pytest.raises(WeightsCorrupt, match="not a readable GGUF"):
        convert(tmp_path / "m.gguf", tmp_path / "out")
    whole = llama_gguf(tmp_path / "whole.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(WeightsCorrupt, match="was cut"):
        convert(tmp_path / "cut.gguf", tmp_path / "out")
    with pytest.raises(WeightsCorrupt, match=r"has no llama\.embedding_length"):
        convert(llama_gguf(tmp_path / "n.gguf", embedding_length=None), tmp_path / "out")


def test_numbers_are_written_in_the_precision_that_is_asked_for(tmp_path: Path) -> None:
    path = llama_gguf(tmp_path / "m.gguf")
    for precision, kind in (("bf16", "BF16"), ("fp32", "F32")):
        convert(path, tmp_path / precision, precision)
        checkpoint = open_checkpoint(tmp_path / precision)
        assert {checkpoint.place(name).dtype for name in checkpoint.names} == {kind}
    with pytest.raises(WeightsUnavailable, match="fp32, fp16, bf16"):
        convert(path, tmp_path / "other", "q8_0")
