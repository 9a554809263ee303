"""The head of a SafeTensors file: which tensors it has and where, checked against the file it stands in.

A file that was cut, altered or made by another program is refused with the name of the tensor that shows it; nothing
in the file is ever run.
"""

import struct
from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.tensors.number_formats import NUMPY

HEAD_BYTES_MAX = 100 << 20  # as the format's own library has it
_LENGTH = struct.Struct("<Q")
_METADATA = "__metadata__"


class TensorPlace(Struct, frozen=True, kw_only=True):
    """One tensor in a file."""

    dtype: str  # by its SafeTensors name
    shape: tuple[int, ...]
    start: int  # of its bytes, from the beginning of the file
    end: int


class _Entry(Struct, frozen=True):
    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


def read_safetensors_head(path: Path) -> dict[str, TensorPlace]:
    """The tensors by name, in the order of their bytes."""
    try:
        size_bytes = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(_LENGTH.size)
            if len(first) < _LENGTH.size:
                raise WeightsCorrupt(f"{path}: ends within its first eight bytes")
            (head_bytes,) = _LENGTH.unpack(first)
            if head_bytes > min(HEAD_BYTES_MAX, size_bytes - _LENGTH.size):
                raise WeightsCorrupt(f"{path}: is no SafeTensors file, or was cut: its head would have {head_bytes} B")
            head = file.read(head_bytes)
    except OSError as error:
        raise WeightsUnavailable(f"{path}: cannot be read: {error.strerror}") from error
    try:
        members = msgspec.json.decode(head, type=dict[str, msgspec.Raw])
        entries = {name: msgspec.json.decode(raw, type=_Entry) for name, raw in members.items() if name != _METADATA}
    except msgspec.MsgspecError as error:
        raise WeightsCorrupt(f"{path}: the head is not that of a SafeTensors file: {error}") from error
    return _placed(path, entries, _LENGTH.size + head_bytes, size_bytes)


def safetensors_head(tensors: list[tuple[str, str, tuple[int, ...]]]) -> tuple[bytes, list[int]]:
    """The head of a file with these tensors (name, dtype, shape) in this order, and how many bytes each takes."""
    sizes = [size_of(dtype, shape) for _, dtype, shape in tensors]
    members: dict[str, object] = {_METADATA: {"format": "pt"}}
    at = 0
    for (name, dtype, shape), size in zip(tensors, sizes, strict=True):
        members[name] = {"dtype": dtype, "shape": shape, "data_offsets": (at, at + size)}
        at += size
    head = msgspec.json.encode(members)
    head += b" " * (-len(head) % 8)  # numbers are where processors like to read them
    return _LENGTH.pack(len(head)) + head, sizes


def size_of(dtype: str, shape: tuple[int, ...]) -> int:
    """Bytes of a tensor."""
    size = NUMPY[dtype].itemsize
    for length in shape:
        size *= length
    return size


def _placed(path: Path, entries: dict[str, _Entry], data_at: int, size_bytes: int) -> dict[str, TensorPlace]:
    """Places that follow one another without a gap to the very end: what else is in a file is not looked at by others,
    and would be a place to hide things."""
    at = data_at
    placed: dict[str, TensorPlace] = {}
    for name, entry in sorted(entries.items(), key=lambda item: item[1].data_offsets):
        if entry.dtype not in NUMPY:
            raise WeightsUnavailable(f'{path}: the tensor "{name}" is stored as {entry.dtype}, which is not known')
        start, end = (data_at + offset for offset in entry.data_offsets)
        if start != at or end - start != size_of(entry.dtype, entry.shape) or end > size_bytes:
            raise WeightsCorrupt(
                f'{path}: the tensor "{name}" of {entry.dtype} {list(entry.shape)} does not lie where its bytes are; '
                "the file was cut or altered"
            )
        placed[name] = TensorPlace(dtype=entry.dtype, shape=entry.shape, start=start, end=end)
        at = end
    if at != size_bytes:
        raise WeightsCorrupt(f"{path}: {size_bytes - at} B follow the last tensor; the file was cut or altered")
    return placed
