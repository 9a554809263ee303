"""KEDA's messages as bytes: what is asked is read, what is answered is written, no more of Protocol Buffers."""

import struct
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5
VARINT_BYTES_MAX: Final = 10


class MessageInvalid(ValueError):
    """Bytes that are no such message."""


class ScaledObject(Struct, frozen=True, kw_only=True):
    """Who asks, and what its trigger says of the pool."""

    name: str = ""
    namespace: str = ""
    metadata: dict[str, str] = {}


def read_scaled_object(data: bytes) -> ScaledObject:
    """A `ScaledObjectRef`; raises MessageInvalid."""
    said, metadata = {1: "", 2: ""}, {}
    for number, value in _fields(data):
        if number == 3:
            entry = {1: "", 2: "", **{part: _text(text) for part, text in _fields(value)}}
            metadata[entry[1]] = entry[2]
        elif number in said:
            said[number] = _text(value)
    return ScaledObject(name=said[1], namespace=said[2], metadata=metadata)


def read_metrics_request(data: bytes) -> ScaledObject:
    """Of a `GetMetricsRequest` who asks: there is one metric alone."""
    return read_scaled_object(next((value for number, value in _fields(data) if number == 1), b""))


def is_active_response(is_active: bool) -> bytes:
    """An `IsActiveResponse`."""
    return b"\x08\x01" if is_active else b""


def metric_response(name: str, value: float) -> bytes:
    """A `GetMetricSpecResponse` or a `GetMetricsResponse`, which are laid out alike, with one metric."""
    metric = _bytes(1, name.encode()) + b"\x10" + _varint(round(value)) + b"\x19" + struct.pack("<d", value)
    return _bytes(1, metric)


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Those of texts and messages, by number; others are passed over."""
    place = 0
    while place < len(data):
        tag, place = _read_varint(data, place)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            _, place = _read_varint(data, place)
            continue
        if kind == BYTES:
            length, place = _read_varint(data, place)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise MessageInvalid(f"a field of kind {kind}")
        if place + length > len(data):
            raise MessageInvalid("a field that is cut off")
        if kind == BYTES:
            yield number, data[place : place + length]
        place += length


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for index, byte in enumerate(data[place : place + VARINT_BYTES_MAX]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, place + index + 1
    raise MessageInvalid("a number without an end")


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _bytes(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | BYTES]) + _varint(len(data)) + data


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise MessageInvalid("a text that is not UTF-8") from error
