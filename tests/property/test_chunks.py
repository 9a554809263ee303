"""The chunked coding, against a reference that is slow and plain."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.wire.chunks import ChunkDecoder, ChunksInvalid, unframe, whole_chunks
from heterodyne.wire.message import CHUNKS_END, chunk
from tests.support.splits import bounded, splits

payloads = st.lists(st.binary(min_size=1, max_size=400), max_size=8)
extensions = st.sampled_from([b"", b";a=b", b" ", b";x"])


@bounded
@given(st.data(), payloads, extensions, st.sampled_from([b"", b"a: b\r\n", b"a: b\r\nc: d\r\n"]))
def test_any_split_decodes_to_the_payloads(
    data: st.DataObject, parts: list[bytes], extension: bytes, trailer: bytes
) -> None:
    framed = b"".join(b"%X%b\r\n%b\r\n" % (len(part), extension, part) for part in parts)
    body = framed + b"000%b\r\n%b\r\n" % (extension, trailer)
    decoder = ChunkDecoder()
    received = b"".join(decoder.feed(piece) for piece in data.draw(splits(body)))
    assert received == b"".join(parts)
    assert decoder.is_ended
    assert not decoder.is_between


@bounded
@given(payloads, st.binary(max_size=60))
def test_whole_chunks_are_those_the_decoder_sees(parts: list[bytes], rest: bytes) -> None:
    framed = b"".join(map(chunk, parts))
    count, end = whole_chunks(framed)
    assert (count, end) == (len(parts), len(framed))
    assert unframe(framed) == b"".join(parts)
    count, end = whole_chunks(framed + rest)
    assert count >= len(parts)
    decoder = ChunkDecoder()
    decoder.feed((framed + rest)[:end])
    assert decoder.is_between


@bounded
@given(st.binary(max_size=200))
def test_noise_is_refused_or_decoded_and_never_anything_else(noise: bytes) -> None:
    count, end = whole_chunks(noise)
    if count:
        unframe(noise[:end])
    decoder = ChunkDecoder()
    try:
        decoder.feed(noise)
    except ChunksInvalid:
        return
    assert CHUNKS_END in noise or not decoder.is_ended or b"\r\n\r\n" in noise
