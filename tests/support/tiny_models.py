"""Small models of every family with random weights, as the folders that models come in."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from heterodyne.registry.families.catalogue import BY_MODEL_TYPE, family_of_config
from heterodyne.registry.tensors.checkpoint_writer import NewTensor, write_checkpoint
from heterodyne.registry.tensors.number_formats import BY_PRECISION, from_float32
from heterodyne.registry.tokenizers.byte_level import CUTS, LETTERS

VOCABULARY = 320  # more rows than tokens: real models are padded too
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
SPECIAL = ("<|end|>", "<|start|>")
PIECES = ("\u2581", *"abcdefghij", "\u2581a", "ab", "\u2581ab", "cd", "abcd")
MERGES = (("\u2581", "a"), ("a", "b"), ("\u2581", "ab"), ("\u2581a", "b"), ("c", "d"), ("ab", "cd"))
CUT = {"qwen2": "qwen2", "qwen3": "qwen2", "llama": "smollm"}


def tiny_config(model_type: str, **members: Any) -> dict[str, Any]:
    """A config of two layers, whose widths fill the blocks of every quantised format."""
    config: dict[str, Any] = {
        "architectures": [BY_MODEL_TYPE[model_type].architectures[model_type]],
        "model_type": model_type,
        "hidden_size": 256,
        "intermediate_size": 512,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "max_position_embeddings": 512,
        "rms_norm_eps": 1e-5,
        "rope_theta": 50_000.0,
        "vocab_size": VOCABULARY,
        "tie_word_embeddings": model_type.startswith("gemma"),
        "bos_token_id": 1,
        "eos_token_id": 0,
    }
    if model_type == "gemma2":
        config |= {"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "sliding_window": 8}
        config |= {"query_pre_attn_scalar": 64}
    if model_type == "gemma3_text":
        config |= {"sliding_window": 8, "rope_local_base_freq": 10_000.0, "query_pre_attn_scalar": 64}
    return config | members


def tiny_model(folder: Path, model_type: str = "llama", precision: str = "fp32", seed: int = 7, **members: Any) -> Path:
    """The whole folder: config, weights and a tokenizer that fits."""
    folder.mkdir(parents=True)
    config = tiny_config(model_type, **members)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    family, shape = family_of_config("config.json", config)
    rng, lengths, dtype = np.random.default_rng(seed), shape.lengths(), BY_PRECISION[precision]
    tensors = []
    for rule in family.rules(shape).values():
        sides = tuple(lengths[one] for one in rule.lengths)
        # Norms around what does nothing; matrices so wide that logits differ by a few.
        middle = (0.0 if family.norm_shift else 1.0) if rule.is_norm else 0.0
        spread = 0.1 if rule.is_norm else 2.0 / np.sqrt(sides[-1])
        values = (middle + spread * rng.standard_normal(sides)).astype(np.float32)
        numbers = from_float32(values, dtype)
        tensors.append(NewTensor(name=rule.name, dtype=dtype, shape=sides, make=lambda numbers=numbers: numbers))
    write_checkpoint(folder, tensors)
    for name, content in tokenizer(model_type).items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def tokenizer(model_type: str) -> dict[str, Any]:
    """Both files of a tokenizer: of bytes, or of pieces for models of Google's and Mistral's."""
    is_bytes = model_type in CUT
    document = _of_bytes(CUT[model_type]) if is_bytes else _of_pieces()
    config = {"bos_token": SPECIAL[1], "eos_token": SPECIAL[0], "chat_template": TEMPLATE}
    if not is_bytes:
        config |= {"unk_token": "<unk>", "add_bos_token": True}
    return {"tokenizer.json": document, "tokenizer_config.json": config}


def _of_bytes(cut: str) -> dict[str, Any]:
    texts = [*SPECIAL, *LETTERS.values(), "th", "the"]
    return {
        "version": "1.0",
        "added_tokens": _added(SPECIAL),
        "normalizer": {"type": "NFC"} if cut == "qwen2" else None,
        "pre_tokenizer": CUTS[cut],
        "post_processor": None,
        "model": {
            "type": "BPE",
            "vocab": {text: id for id, text in enumerate(texts)},
            "merges": [["t", "h"], ["th", "e"]],
        },
    }


def _of_pieces() -> dict[str, Any]:
    texts = [*SPECIAL, "<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *PIECES]
    return {
        "version": "1.0",
        "added_tokens": _added((*SPECIAL, "<unk>")),
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "\u2581"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
            ],
        },
        "pre_tokenizer": None,
        "post_processor": None,
        "model": {
            "type": "BPE",
            "byte_fallback": True,
            "vocab": {text: id for id, text in enumerate(texts)},
            "merges": [list(merge) for merge in MERGES],
        },
    }


def _added(texts: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{"id": id, "content": text, "special": True} for id, text in enumerate(texts)]
