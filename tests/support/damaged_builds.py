"""Builds that went wrong, each in one way: a folder in SafeTensors is changed before it is built."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from heterodyne.registry.families.family import LAYER
from heterodyne.registry.tensors.checkpoint import open_checkpoint
from heterodyne.registry.tensors.checkpoint_writer import NewTensor, write_checkpoint
from heterodyne.registry.tensors.number_formats import from_float32

Damage = Callable[[Path], None]  # of a folder, in place


def damaged(folder: Path, target: Path, damage: Damage) -> Path:
    """A copy of the model in `folder`, with the damage done."""
    shutil.copytree(folder, target)
    damage(target)
    return target


def scaled_layer(folder: Path) -> None:
    """The output of one layer's feed-forward half is a quarter larger."""
    name = LAYER.format(_layers(folder) // 2) + "mlp.down_proj.weight"
    _change(folder, {name: lambda values: values * 1.25})


def wrong_rope_base(folder: Path) -> None:
    """Positions turn at another pace, as with a base that was left at its default."""
    config = json.loads((folder / "config.json").read_text())
    config["rope_theta"] = 10_000.0 if config["rope_theta"] > 20_000 else 500_000.0
    config.pop("rope_parameters", None)
    (folder / "config.json").write_text(json.dumps(config))


def swapped_tokenizer(folder: Path) -> None:
    """Two tokens have each other's number, as with a tokenizer of another training run."""
    document = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = document["model"]["vocab"]
    one, other = list(vocabulary)[-2:]
    vocabulary[one], vocabulary[other] = vocabulary[other], vocabulary[one]
    (folder / "tokenizer.json").write_text(json.dumps(document))


def two_bit_noise(folder: Path) -> None:
    """One layer's projections have four levels a row."""
    layer = LAYER.format(_layers(folder) // 2)
    names = [f"{layer}mlp.{name}_proj.weight" for name in ("gate", "up", "down")]
    _change(folder, dict.fromkeys(names, _in_two_bits))


def transposed_projection(folder: Path) -> None:
    """One square projection lies the other way round."""
    name = LAYER.format(_layers(folder) // 2) + "self_attn.o_proj.weight"
    _change(folder, {name: np.transpose})


DAMAGES: dict[str, Damage] = {
    "one layer scaled by 1.25": scaled_layer,
    "a wrong rope base": wrong_rope_base,
    "a swapped tokenizer": swapped_tokenizer,
    "one layer in 2 bits": two_bit_noise,
    "a transposed projection": transposed_projection,
}


def _in_two_bits(values: np.ndarray) -> np.ndarray:
    scale = np.abs(values).max(axis=-1, keepdims=True) / 1.5
    return (np.clip(np.round(values / scale - 0.5), -2, 1) + 0.5) * scale


def _layers(folder: Path) -> int:
    return int(json.loads((folder / "config.json").read_text())["num_hidden_layers"])


def _change(folder: Path, changes: dict[str, Callable[[np.ndarray], np.ndarray]]) -> None:
    checkpoint, tensors = open_checkpoint(folder), []
    for name in checkpoint.names:
        place, values = checkpoint.place(name), np.array(checkpoint.values(name))
        if name in changes:
            values = np.ascontiguousarray(changes[name](values))
        make = partial(from_float32, values, place.dtype)
        tensors.append(NewTensor(name=name, dtype=place.dtype, shape=place.shape, make=make))
    for path in checkpoint.files:
        path.unlink()
    write_checkpoint(folder, tensors)
