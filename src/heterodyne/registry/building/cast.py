"""The same SafeTensors with other numbers: 32 bits, or 16 of either kind."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from heterodyne.domain.artifact import WeightFormat
from heterodyne.registry.building.builder import BERT, DECODER, Builder, BuildOrder, OnStep
from heterodyne.registry.conversion.compressed_tensors import QUANTIZATION
from heterodyne.registry.files import write_whole
from heterodyne.registry.tensors.checkpoint import CONFIG, INDEX, Checkpoint, open_checkpoint
from heterodyne.registry.tensors.checkpoint_writer import NewTensor, write_checkpoint
from heterodyne.registry.tensors.eight_bits import BY_DTYPE, SCALE
from heterodyne.registry.tensors.number_formats import BY_PRECISION, CONFIG_WORDS, PRECISIONS, from_float32


def _cast(order: BuildOrder, on_step: OnStep) -> None:
    checkpoint, dtype = open_checkpoint(order.source), BY_PRECISION[order.precision]
    order.target.mkdir(parents=True, exist_ok=True)
    tensors = []
    for name in checkpoint.names:
        place = checkpoint.place(name)
        if name.endswith(SCALE) and name.removesuffix(SCALE) in checkpoint:
            continue  # what it scales is widened
        is_eight = place.dtype in BY_DTYPE and name + SCALE in checkpoint
        is_float = place.dtype in PRECISIONS or place.dtype == "F64"  # counts and indices stay what they are
        kind = dtype if is_float or is_eight else place.dtype
        make = partial(_numbers, checkpoint, name, kind) if kind == dtype else partial(checkpoint.stored, name)
        tensors.append(NewTensor(name=name, dtype=kind, shape=place.shape, make=make))
    write_checkpoint(order.target, tensors, on_tensor=on_step)
    copy_beside(checkpoint, order.target, plain_config(checkpoint.config, order.precision))


def plain_config(config: Mapping[str, object], precision: str) -> dict[str, object]:
    """The config of the same model in a precision of 32 or 16 bits."""
    words: dict[str, object] = dict.fromkeys(("dtype", "torch_dtype"), CONFIG_WORDS[precision])
    known = {name: word for name, word in words.items() if name in config or name == "dtype"}
    return {name: value for name, value in {**config, **known}.items() if name != QUANTIZATION}


def copy_beside(checkpoint: Checkpoint, target: Path, config: Mapping[str, object]) -> None:
    """The tokenizer and the rest as they are, and another config."""
    tensors = {path.name for path in checkpoint.files}
    for path in sorted(checkpoint.folder.iterdir()):
        if path.is_file() and path.name not in {*tensors, INDEX, CONFIG}:
            write_whole(target / path.name, path.read_bytes())
    write_whole(target / CONFIG, msgspec.json.format(msgspec.json.encode(config)) + b"\n")


def _numbers(checkpoint: Checkpoint, name: str, dtype: str) -> np.ndarray:
    return from_float32(checkpoint.values(name), dtype)


CAST = Builder(
    name="cast",
    version=2,
    takes=WeightFormat.SAFETENSORS,
    makes=WeightFormat.SAFETENSORS,
    precisions=tuple(BY_PRECISION),
    run=_cast,
    tools=("numpy",),
    kinds=(DECODER, BERT),
)
