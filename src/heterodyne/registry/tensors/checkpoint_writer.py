"""Writes a model in SafeTensors: tensors in shards of a bounded size, and the index where there are several."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from heterodyne.registry.files import write_whole
from heterodyne.registry.tensors.checkpoint import INDEX, WHOLE
from heterodyne.registry.tensors.laid_out_file import MARK_EVERY_BYTES, write_laid_out
from heterodyne.registry.tensors.safetensors_head import safetensors_head, size_of

SHARD_BYTES_MAX = 4 << 30


class NewTensor(Struct, frozen=True, kw_only=True):
    """One to be written; its numbers are made when its turn comes, so that one is in memory at a time."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    make: Callable[[], np.ndarray]  # the numbers as they are stored


def write_checkpoint(
    folder: Path,
    tensors: Sequence[NewTensor],
    *,
    on_tensor: Callable[[int, int], None] = lambda done, of: None,
    shard_bytes_max: int = SHARD_BYTES_MAX,
    mark_every_bytes: int = MARK_EVERY_BYTES,
) -> None:
    """Write the tensors by their names; broken off, it goes on where it was. `on_tensor` hears how many of how many
    are done."""
    tensors = sorted(tensors, key=lambda one: one.name)
    shards = _shards(tensors, shard_bytes_max)
    names = [WHOLE] if len(shards) == 1 else [_shard_name(number, len(shards)) for number in range(len(shards))]
    before = 0
    for name, shard in zip(names, shards, strict=True):
        head, sizes = safetensors_head([(one.name, one.dtype, one.shape) for one in shard])
        write_laid_out(
            folder / name,
            head,
            sizes,
            lambda index, shard=shard: _bytes(shard[index]),  # type: ignore[misc]  # bound at once
            on_tensor=lambda done, before=before: on_tensor(before + done, len(tensors)),  # type: ignore[misc]
            mark_every_bytes=mark_every_bytes,
        )
        before += len(shard)
    if len(shards) > 1:
        where = {one.name: name for name, shard in zip(names, shards, strict=True) for one in shard}
        total = sum(size_of(one.dtype, one.shape) for one in tensors)
        index = {"metadata": {"total_size": total}, "weight_map": where}
        write_whole(folder / INDEX, msgspec.json.format(msgspec.json.encode(index)) + b"\n")


def _shards(tensors: Sequence[NewTensor], bytes_max: int) -> list[list[NewTensor]]:
    shards: list[list[NewTensor]] = [[]]
    taken = 0
    for one in tensors:
        size = size_of(one.dtype, one.shape)
        if shards[-1] and taken + size > bytes_max:
            shards.append([])
            taken = 0
        shards[-1].append(one)
        taken += size
    return shards


def _shard_name(number: int, of: int) -> str:
    return f"model-{number + 1:05d}-of-{of:05d}.safetensors"


def _bytes(tensor: NewTensor) -> memoryview:
    return np.ascontiguousarray(tensor.make()).reshape(-1).view(np.uint8).data
