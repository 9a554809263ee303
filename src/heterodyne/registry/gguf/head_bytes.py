"""The head of a GGUF file that is to be written: its fields and its list of tensors, as bytes.

The same fields and tensors give the same bytes, which the `gguf` package's own writer, with its temporary files, does
not promise.
"""

import struct
from collections.abc import Mapping, Sequence

import gguf
from msgspec import Struct

MAGIC = b"GGUF"
VERSION = 3
ALIGNMENT = 32
KIND = gguf.GGUFValueType

GgufValue = bool | int | float | str | list[str] | list[int] | list[float]


class GgufTensor(Struct, frozen=True, kw_only=True):
    """One tensor of the list."""

    name: str
    shape: tuple[int, ...]  # rows first, as numpy has it
    kind: int  # of `gguf.GGMLQuantizationType`

    @property
    def size_bytes(self) -> int:
        """Of its numbers, without what fills up to the next."""
        count = 1
        for length in self.shape:
            count *= length
        block, block_bytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(self.kind)]
        return count // block * block_bytes


def gguf_head(fields: Mapping[str, GgufValue], tensors: Sequence[GgufTensor]) -> tuple[bytes, list[int]]:
    """The head up to where the first tensor's numbers begin, and how many bytes each takes with its filling."""
    parts = [MAGIC, struct.pack("<IQQ", VERSION, len(tensors), len(fields))]
    for name, value in fields.items():
        parts += (_text(name), _value(value))
    sizes = [one.size_bytes + _filling(one.size_bytes) for one in tensors]
    at = 0
    for one, size in zip(tensors, sizes, strict=True):
        lengths = tuple(reversed(one.shape))
        parts += (_text(one.name), struct.pack(f"<I{len(lengths)}QIQ", len(lengths), *lengths, one.kind, at))
        at += size
    head = b"".join(parts)
    return head + bytes(_filling(len(head))), sizes


def filled(data: bytes) -> bytes:
    """A tensor's numbers with what fills up to the next."""
    return data + bytes(_filling(len(data)))


def _filling(size: int) -> int:
    return -size % ALIGNMENT


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _value(value: GgufValue) -> bytes:
    if isinstance(value, list):
        kind = _kind(value[0], is_listed=True) if value else KIND.STRING
        return struct.pack("<IIQ", KIND.ARRAY, kind, len(value)) + b"".join(_packed(one, kind) for one in value)
    kind = _kind(value)
    return struct.pack("<I", kind) + _packed(value, kind)


def _kind(value: object, *, is_listed: bool = False) -> KIND:
    """Lists of whole numbers have signs in this format, single numbers have none."""
    if isinstance(value, bool):
        return KIND.BOOL
    if isinstance(value, int):
        return KIND.INT32 if is_listed else KIND.UINT32
    return KIND.FLOAT32 if isinstance(value, float) else KIND.STRING


_FORMATS = {KIND.BOOL: "<?", KIND.INT32: "<i", KIND.UINT32: "<I", KIND.FLOAT32: "<f"}


def _packed(value: object, kind: KIND) -> bytes:
    return _text(str(value)) if kind is KIND.STRING else struct.pack(_FORMATS[kind], value)
