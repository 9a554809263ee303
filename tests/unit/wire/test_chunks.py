"""The edges of the chunked coding."""

import pytest

from heterodyne.wire.chunks import SIZE_LINE_BYTES_MAX, TRAILER_BYTES_MAX, ChunkDecoder, ChunksInvalid, whole_chunks


@pytest.mark.parametrize(
    ("data", "chunks", "end"),
    [
        (b"1\r\na\r\n", 1, 6),
        (b"1\r\na\r\n2\r\nbc\r\n", 2, 13),
        (b"1\r\na\r\n0\r\n\r\n", 1, 6),
        (b"1\r\na\r\n2\r\nb", 1, 6),
        (b"1\r\nab\r\n", 0, 0),
        (b"0\r\n\r\n", 0, 0),
        (b"-1\r\n\r\n", 0, 0),
        (b"+1\r\na\r\n", 0, 0),
        (b"0x1\r\na\r\n", 0, 0),
        (b"1;x\r\na\r\n", 0, 0),
        (b"\r\n", 0, 0),
        (b"", 0, 0),
    ],
)
def test_whole_chunks_are_counted_and_anything_odd_is_left(data: bytes, chunks: int, end: int) -> None:
    assert whole_chunks(data) == (chunks, end)


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n",
        b"g\r\n",
        b"-1\r\n",
        b"+1\r\n",
        b"0x1\r\n",
        b"1_0\r\n",
        b"123456789\r\n",
        b"1\r\nab\r\n",
        b"0\r\n\r\nmore",
        b"1" * (SIZE_LINE_BYTES_MAX + 1),
        b"0\r\n" + b"x" * (TRAILER_BYTES_MAX + 1),
    ],
)
def test_what_is_no_chunk_is_refused(data: bytes) -> None:
    with pytest.raises(ChunksInvalid):
        ChunkDecoder().feed(data)


def test_trailers_are_read_past() -> None:
    decoder = ChunkDecoder()
    assert decoder.feed(b"1;a=b\r\nx\r\n0\r\nc: d\r\n\r\n") == b"x"
    assert decoder.is_ended
