"""The chunked transfer coding, read side."""

from typing import Final

SIZE_LINE_BYTES_MAX: Final = 256
TRAILER_BYTES_MAX: Final = 8192
COMMON_SIZES: Final = {b"%x" % size: size for size in range(1, 16384)}  # a look-up is quicker than reading the digits
SIZE_DIGITS: Final = (b"0", *COMMON_SIZES)  # by size
HEX: Final = frozenset(b"0123456789abcdefABCDEF")


class ChunksInvalid(ValueError):
    """The bytes are not a chunked body."""


def whole_chunks(data: bytes) -> tuple[int, int]:
    """How many whole chunks `data`, read from between two chunks, begins with, and where they end.

    The closing empty chunk and anything unusual (extensions, splits) is left to the decoder.
    """
    position, length, chunks = 0, len(data), 0
    while position < length:
        line_end = data.find(b"\r\n", position, position + 10)
        size = COMMON_SIZES.get(data[position:line_end], 0) if line_end > position else 0
        end = line_end + size + 4
        if size == 0 or data[end - 2 : end] != b"\r\n":
            break
        position = end
        chunks += 1
    return chunks, position


def next_chunk_bytes(data: bytes, start: int) -> int:
    """How long the chunk that begins there is, framing included; raises ChunksInvalid without one of a usual size."""
    line_end = data.find(b"\r\n", start, start + 10)
    size = COMMON_SIZES.get(data[start:line_end], 0) if line_end > start else 0
    if not size:
        raise ChunksInvalid("not the beginning of a chunk")
    return line_end + size + 4 - start


def unframe(data: bytes) -> bytes:
    """The payload of whole chunks."""
    return ChunkDecoder().feed(data)


class ChunkDecoder:
    """Takes a chunked body in pieces of any size and gives back its payload."""

    __slots__ = ("_buffer", "_expect", "_remaining", "is_ended")

    def __init__(self) -> None:
        self._buffer = b""  # an unfinished line
        self._expect = ChunkDecoder._take_size  # not bound: an object that holds its own method is a cycle
        self._remaining = 0
        self.is_ended = False

    @property
    def is_between(self) -> bool:
        """Whether the next byte begins a chunk."""
        return self._expect is ChunkDecoder._take_size and not self._buffer and not self.is_ended

    def feed(self, data: bytes) -> bytes:
        """The payload in `data`; `is_ended` afterwards when the body is complete."""
        if self._buffer:
            data = self._buffer + data
            self._buffer = b""
        pieces: list[bytes] = []
        position = 0
        while position < len(data) and not self._buffer:
            if self.is_ended:
                raise ChunksInvalid("bytes after the last chunk")
            position = self._expect(self, data, position, pieces)
        return b"".join(pieces)

    def _take_size(self, data: bytes, position: int, pieces: list[bytes]) -> int:
        end = data.find(b"\r\n", position)
        if end < 0:
            return self._keep(data, position, SIZE_LINE_BYTES_MAX)
        self._remaining = _size(data[position:end])
        self._expect = ChunkDecoder._take_payload if self._remaining else ChunkDecoder._take_trailer
        return end + 2

    def _take_payload(self, data: bytes, position: int, pieces: list[bytes]) -> int:
        payload = data[position : position + self._remaining]
        pieces.append(payload)
        self._remaining -= len(payload)
        if not self._remaining:
            self._expect = ChunkDecoder._take_chunk_end
        return position + len(payload)

    def _take_chunk_end(self, data: bytes, position: int, pieces: list[bytes]) -> int:
        if len(data) - position < 2:
            return self._keep(data, position, 2)
        if data[position : position + 2] != b"\r\n":
            raise ChunksInvalid("a chunk longer than its size")
        self._expect = ChunkDecoder._take_size
        return position + 2

    def _take_trailer(self, data: bytes, position: int, pieces: list[bytes]) -> int:
        """Trailer lines are read past; an empty line ends the body."""
        end = data.find(b"\r\n", position)
        if end < 0:
            return self._keep(data, position, TRAILER_BYTES_MAX)
        self.is_ended = end == position
        return end + 2

    def _keep(self, data: bytes, position: int, bytes_max: int) -> int:
        self._buffer = data[position:]
        if len(self._buffer) > bytes_max:
            raise ChunksInvalid("a line without an end")
        return len(data)


def _size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not digits or len(digits) > 8 or not HEX.issuperset(digits):
        raise ChunksInvalid(f"{line[:20]!r} is no chunk size")
    return int(digits, 16)
