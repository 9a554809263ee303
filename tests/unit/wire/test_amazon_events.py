"""Amazon's event streams, against botocore's reader and cut anywhere."""

import struct
from binascii import crc32

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.testing.amazon_events import amazon_event, frame
from heterodyne.wire.amazon_events import MESSAGE_BYTES_MAX, AmazonEvents, AmazonEventsInvalid
from tests.support.splits import bounded, splits

EVERY_TYPE = b"".join(
    (
        b"\x01a\x00",
        b"\x01b\x01",
        b"\x01c\x02\xff",
        b"\x01d\x03\x00\x01",
        b"\x01e\x04\x00\x00\x00\x01",
        b"\x01f\x05" + bytes(8),
        b"\x01g\x06\x00\x02hi",
        b"\x01h\x07\x00\x02\xc3\xa9",
        b"\x01i\x08" + bytes(8),
        b"\x01j\x09" + bytes(16),
    )
)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
messages = st.lists(
    st.tuples(st.dictionaries(names, st.text(max_size=20), max_size=4), st.binary(max_size=60)), max_size=4
)


def framed(headers: dict[str, str], payload: bytes) -> bytes:
    return frame(list(headers.items()), payload)


@bounded
@given(st.data(), messages)
def test_messages_are_read_as_botocore_reads_them_wherever_they_are_cut(
    data: st.DataObject, sent: list[tuple[dict[str, str], bytes]]
) -> None:
    stream = b"".join(framed(headers, payload) for headers, payload in sent)
    reader = AmazonEvents()
    found = [one for piece in data.draw(splits(stream)) for one in reader.feed(piece)]
    assert [tuple(one) for one in found] == sent
    assert reader.is_between
    theirs = EventStreamBuffer()
    theirs.add_data(stream)
    assert [(one.headers, one.payload) for one in theirs] == sent


def test_headers_that_are_no_texts_are_passed_over() -> None:
    message = _raw(EVERY_TYPE, b"{}")
    [found] = AmazonEvents().feed(message)
    assert found == ({"h": "é"}, b"{}")
    theirs = EventStreamBuffer()
    theirs.add_data(message)
    assert next(theirs).headers["h"] == "é"


def test_a_part_of_a_message_is_none() -> None:
    reader = AmazonEvents()
    message = amazon_event("messageStop", {})
    assert reader.feed(message[:-1]) == []
    assert not reader.is_between
    assert len(reader.feed(message[-1:])) == 1


@pytest.mark.parametrize("place", [0, 5, 9, 14, 40, -1])
def test_a_changed_byte_is_noticed(place: int) -> None:
    message = bytearray(amazon_event("messageStop", {"stopReason": "end_turn"}))
    message[place] ^= 1
    with pytest.raises(AmazonEventsInvalid):
        AmazonEvents().feed(bytes(message))


@pytest.mark.parametrize("headers", [b"\x05a", b"\x01a\x07\x00\x09x", b"\x01a\x0a", b"\x01a", b"\x01\xff\x07\x00\x00"])
def test_headers_that_cannot_be_read_are_said_to_be_so(headers: bytes) -> None:
    with pytest.raises(AmazonEventsInvalid):
        AmazonEvents().feed(_raw(headers, b""))


@pytest.mark.parametrize(("total", "headers"), [(MESSAGE_BYTES_MAX + 1, 0), (15, 0), (30, 15)])
def test_lengths_that_cannot_be_are_refused_before_anything_is_gathered(total: int, headers: int) -> None:
    prelude = struct.pack("!II", total, headers)
    with pytest.raises(AmazonEventsInvalid, match="bytes with"):
        AmazonEvents().feed(prelude + struct.pack("!I", crc32(prelude)))


def _raw(headers: bytes, payload: bytes) -> bytes:
    prelude = struct.pack("!II", len(headers) + len(payload) + 16, len(headers))
    body = prelude + struct.pack("!I", crc32(prelude)) + headers + payload
    return body + struct.pack("!I", crc32(body))
