"""LoRA adapters of tiny models with random numbers, as PEFT saves them."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.tensors.checkpoint_writer import NewTensor, write_checkpoint
from heterodyne.registry.tensors.lora_adapter import CONFIG, DOWN, PREFIX, UP, WEIGHTS

RANK = 4
TARGETS = ["q_proj", "down_proj"]


def tiny_adapter(folder: Path, model: Path, seed: int = 3, **members: Any) -> Path:
    """Of all layers' queries and of what comes out of their feed-forward halves."""
    tensors = random_pairs(model, seed)
    config = {"peft_type": "LORA", "r": RANK, "lora_alpha": 8, "target_modules": TARGETS, "bias": "none"}
    return written_adapter(folder, config | members, tensors)


def random_pairs(model: Path, seed: int = 3) -> dict[str, np.ndarray]:
    """The tensors by name."""
    rng, tensors = np.random.default_rng(seed), {}
    for name, (rows, columns) in open_safetensors(model).projections.items():
        module = name.removesuffix(".weight")
        if module.endswith(tuple(TARGETS)):
            tensors[PREFIX + module + DOWN] = rng.standard_normal((RANK, columns)).astype("<f4") / np.float32(16)
            tensors[PREFIX + module + UP] = rng.standard_normal((rows, RANK)).astype("<f4") / np.float32(4)
    return tensors


def written_adapter(folder: Path, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> Path:
    folder.mkdir(parents=True)
    (folder / CONFIG).write_text(json.dumps(config))
    new = [
        NewTensor(name=name, dtype="F32", shape=numbers.shape, make=lambda numbers=numbers: numbers)
        for name, numbers in tensors.items()
    ]
    write_checkpoint(folder, new)
    (folder / "model.safetensors").rename(folder / WEIGHTS)
    return folder
