"""A BERT folder becomes a GGUF with llama.cpp's names, types and vocabulary."""

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from safetensors.numpy import save_file

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry import weights
from heterodyne.registry.conversion.bert_gguf import convert
from heterodyne.registry.settings import RegistrySettings

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "play", "##ing", "."]
CONFIG = {
    "model_type": "bert",
    "hidden_size": 4,
    "intermediate_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "max_position_embeddings": 16,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "tiny-bert"
    path.mkdir()
    (path / "config.json").write_text(json.dumps(CONFIG))
    (path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    matrix, vector = np.ones((4, 4), np.float32), np.ones(4, np.float32)
    layer = "bert.encoder.layer.0"
    save_file(
        {
            "bert.embeddings.position_ids": np.zeros((1, 16), np.int64),
            "bert.embeddings.word_embeddings.weight": np.ones((8, 4), np.float32),
            "bert.embeddings.position_embeddings.weight": np.ones((16, 4), np.float32),
            "bert.embeddings.token_type_embeddings.weight": np.ones((2, 4), np.float32),
            f"{layer}.attention.self.query.weight": matrix,
            f"{layer}.attention.self.query.bias": vector,
            "bert.pooler.dense.weight": matrix,
        },
        path / "model.safetensors",
    )
    return path


def field(reader: gguf.GGUFReader, name: str) -> Any:
    return reader.get_field(name).contents()


def test_shape_vocabulary_and_tensors_are_llama_cpps(folder: Path, tmp_path: Path) -> None:
    convert(folder, tmp_path / "out.gguf")
    reader = gguf.GGUFReader(tmp_path / "out.gguf")
    assert field(reader, "general.architecture") == "bert"
    assert field(reader, "bert.context_length") == 16
    assert field(reader, "bert.attention.causal") is False
    assert field(reader, "bert.pooling_type") == gguf.PoolingType.MEAN
    assert field(reader, "tokenizer.ggml.tokens")[4:] == ["[MASK]", "▁play", "ing", "▁."]
    types = {tensor.name: tensor.tensor_type.name for tensor in reader.tensors}
    assert types == {
        "token_embd.weight": "F16",
        "position_embd.weight": "F32",
        "token_types.weight": "F32",
        "blk.0.attn_q.weight": "F16",
        "blk.0.attn_q.bias": "F32",
    }
    assert [path.name for path in tmp_path.glob("*.part")] == []


def test_a_local_bert_folder_is_converted_in_the_cache(folder: Path, tmp_path: Path) -> None:
    settings = RegistrySettings(cache_dir=str(tmp_path / "cache"))
    path = weights.obtain(f"file:{folder}", None, settings, lambda *_: None)
    assert path.suffix == ".gguf"
    assert path.is_relative_to(tmp_path / "cache")
    made_ns = path.stat().st_mtime_ns
    assert weights.obtain(f"file:{folder}", None, settings, lambda *_: None).stat().st_mtime_ns == made_ns


def test_a_damaged_tensor_file_is_corrupt(folder: Path, tmp_path: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"short")
    with pytest.raises(WeightsCorrupt, match="not a readable BERT model"):
        convert(folder, tmp_path / "out.gguf")


def test_a_vocabulary_without_special_tokens_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "vocab.txt").write_text("play\n")
    with pytest.raises(WeightsUnavailable, match=r"lacks \[CLS\]"):
        convert(folder, tmp_path / "out.gguf")
