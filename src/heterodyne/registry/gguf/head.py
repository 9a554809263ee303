"""The head of a GGUF file: its metadata and its tensor list, in one pass that steps over long lists.

The `gguf` package reads every token of a vocabulary into objects, seconds of work that a shape does not need.
"""

import mmap
import struct
from pathlib import Path

import gguf
from msgspec import Struct

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable

MAGIC = b"GGUF"
VERSIONS = (2, 3)
LIST_MAX = 4096  # longer lists are vocabularies: only their length is kept
KIND = gguf.GGUFValueType
SCALARS: dict[int, struct.Struct] = {
    KIND.UINT8: struct.Struct("<B"),
    KIND.INT8: struct.Struct("<b"),
    KIND.UINT16: struct.Struct("<H"),
    KIND.INT16: struct.Struct("<h"),
    KIND.UINT32: struct.Struct("<I"),
    KIND.INT32: struct.Struct("<i"),
    KIND.FLOAT32: struct.Struct("<f"),
    KIND.BOOL: struct.Struct("<?"),
    KIND.UINT64: struct.Struct("<Q"),
    KIND.INT64: struct.Struct("<q"),
    KIND.FLOAT64: struct.Struct("<d"),
}


class GgufHead(Struct, frozen=True, kw_only=True):
    """The metadata of a GGUF file, before its weights."""

    metadata: dict[str, object]  # scalars, strings and short lists
    list_lengths: dict[str, int]
    tensors: dict[str, tuple[int, int]]  # name: numbers in it, bytes it takes


def read_gguf_head(path: Path) -> GgufHead:
    """Read the head; raises `WeightsUnavailable` or `WeightsCorrupt`."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _Cursor(content).head()
    except OSError as error:
        raise WeightsUnavailable(f"weights: cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, struct.error) as error:  # an empty or cut file, an unknown type, text that is none
        raise WeightsCorrupt(f"weights: {path} is not a readable GGUF file: {error}") from error


class _Cursor:
    """A place in the file, moving forward; what would reach beyond the end is refused."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._at = 0

    def head(self) -> GgufHead:
        if self._take(len(MAGIC)) != MAGIC:
            raise ValueError("it does not begin with GGUF")
        version = self._number(KIND.UINT32)
        if version not in VERSIONS:
            raise ValueError(f"version {version} is not one of {VERSIONS}")
        tensor_count, field_count = self._count(), self._count()
        metadata: dict[str, object] = {}
        list_lengths: dict[str, int] = {}
        for _ in range(field_count):
            name, kind = self._text(), self._count(KIND.UINT32)
            if kind != KIND.ARRAY:
                metadata[name] = self._value(kind)
                continue
            kind, length = self._count(KIND.UINT32), self._count()
            list_lengths[name] = length
            if length <= LIST_MAX:
                metadata[name] = [self._value(kind) for _ in range(length)]
            else:
                self._pass_over(kind, length)
        tensors = dict(self._tensor() for _ in range(tensor_count))
        return GgufHead(metadata=metadata, list_lengths=list_lengths, tensors=tensors)

    def _tensor(self) -> tuple[str, tuple[int, int]]:
        name = self._text()
        count = 1
        for _ in range(self._count(KIND.UINT32)):
            count *= self._count()
        block_count, block_bytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(self._count(KIND.UINT32))]
        self._count()  # where its bytes begin
        return name, (count, count // block_count * block_bytes)

    def _value(self, kind: int) -> object:
        return self._text() if kind == KIND.STRING else self._number(kind)

    def _text(self) -> str:
        return self._take(self._count()).decode("utf-8")

    def _number(self, kind: int) -> float:
        scalar = SCALARS[kind]
        number: float = scalar.unpack(self._take(scalar.size))[0]
        return number

    def _count(self, kind: int = KIND.UINT64) -> int:
        return int(self._number(kind))

    def _pass_over(self, kind: int, length: int) -> None:
        if kind != KIND.STRING:
            self._move(SCALARS[kind].size * length)
            return
        unpack = SCALARS[KIND.UINT64].unpack_from
        at = self._at
        for _ in range(length):
            at += 8 + unpack(self._content, at)[0]
        self._move(at - self._at)

    def _take(self, size: int) -> bytes:
        start = self._at
        self._move(size)
        return self._content[start : self._at]

    def _move(self, size: int) -> None:
        if self._at + size > len(self._content):
            raise ValueError("it ends early")
        self._at += size
