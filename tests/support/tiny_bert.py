"""A small BERT with random weights, as the folder that embedding models come in."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("play", "##ing", "the", "sea", "is", "calm", "##er", ".")
CONFIG = {
    "model_type": "bert",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "vocab_size": len(SPECIAL) + len(WORDS),
}


def tiny_bert(folder: Path, prefix: str = "", seed: int = 5) -> Path:
    """The whole folder; `prefix` is put before every tensor's name."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "vocab.txt").write_text("\n".join((*SPECIAL, *WORDS)) + "\n")
    rng, hidden, inner = np.random.default_rng(seed), 64, 128
    tensors: dict[str, np.ndarray] = {}

    def matrix(name: str, rows: int, columns: int) -> None:
        tensors[prefix + name] = (2 * rng.standard_normal((rows, columns)) / np.sqrt(columns)).astype(np.float32)

    def dense(name: str, rows: int, columns: int) -> None:
        matrix(name + ".weight", rows, columns)
        tensors[f"{prefix}{name}.bias"] = rng.standard_normal(rows).astype(np.float32) / np.float32(4)

    def norm(name: str) -> None:
        tensors[f"{prefix}{name}.weight"] = (1 + 0.1 * rng.standard_normal(hidden)).astype(np.float32)
        tensors[f"{prefix}{name}.bias"] = (0.1 * rng.standard_normal(hidden)).astype(np.float32)

    for name, rows in (("word", len(SPECIAL) + len(WORDS)), ("position", 64), ("token_type", 2)):
        matrix(f"embeddings.{name}_embeddings.weight", rows, hidden)
    norm("embeddings.LayerNorm")
    for number in range(2):
        layer = f"encoder.layer.{number}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            dense(layer + name, hidden, hidden)
        dense(layer + "intermediate.dense", inner, hidden)
        dense(layer + "output.dense", hidden, inner)
        norm(layer + "attention.output.LayerNorm")
        norm(layer + "output.LayerNorm")
    save_file(tensors, folder / "model.safetensors")
    return folder
