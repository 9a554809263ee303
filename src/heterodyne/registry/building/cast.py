"""The same SafeTensors with other numbers: 32 bits, or 16 of either kind."""

from functools import partial

import msgspec
import numpy as np

from heterodyne.domain.artifact import WeightFormat
from heterodyne.registry.building.builder import Builder, BuildOrder, OnStep
from heterodyne.registry.files import write_whole
from heterodyne.registry.tensors.checkpoint import CONFIG, Checkpoint, open_checkpoint
from heterodyne.registry.tensors.checkpoint_writer import NewTensor, write_checkpoint
from heterodyne.registry.tensors.number_formats import BY_PRECISION, CONFIG_WORDS, PRECISIONS, from_float32


def _cast(order: BuildOrder, on_step: OnStep) -> None:
    checkpoint, dtype = open_checkpoint(order.source), BY_PRECISION[order.precision]
    order.target.mkdir(parents=True, exist_ok=True)
    tensors = []
    for name in checkpoint.names:
        place = checkpoint.place(name)
        is_float = place.dtype in PRECISIONS or place.dtype == "F64"  # counts and indices stay what they are
        kind = dtype if is_float else place.dtype
        make = partial(_numbers, checkpoint, name, kind) if is_float else partial(checkpoint.stored, name)
        tensors.append(NewTensor(name=name, dtype=kind, shape=place.shape, make=make))
    write_checkpoint(order.target, tensors, on_tensor=on_step)
    word = CONFIG_WORDS[order.precision]
    copy_beside(checkpoint, order, {"dtype": word, "torch_dtype": word})


def copy_beside(checkpoint: Checkpoint, order: BuildOrder, members: dict[str, object]) -> None:
    """The tokenizer and the rest as they are, and the config with other members."""
    tensors = {path.name for path in checkpoint.files}
    for path in sorted(checkpoint.folder.iterdir()):
        if path.is_file() and path.name not in tensors and not path.name.endswith((".index.json", CONFIG)):
            write_whole(order.target / path.name, path.read_bytes())
    known = {name: value for name, value in members.items() if name in checkpoint.config or name == "dtype"}
    config = {**checkpoint.config, **known}
    write_whole(order.target / CONFIG, msgspec.json.format(msgspec.json.encode(config)) + b"\n")


def _numbers(checkpoint: Checkpoint, name: str, dtype: str) -> np.ndarray:
    return from_float32(checkpoint.values(name), dtype)


CAST = Builder(
    name="cast",
    version=1,
    takes=WeightFormat.SAFETENSORS,
    makes=WeightFormat.SAFETENSORS,
    precisions=tuple(BY_PRECISION),
    run=_cast,
    tools=("numpy",),
)
