"""Writes Amazon's binary event streams, for engines that speak them."""

import struct
from collections.abc import Sequence
from zlib import crc32

import msgspec

STREAM = ("content-type: application/vnd.amazon.eventstream", "transfer-encoding: chunked")
STRING = 7


def amazon_event(type: str, payload: object, *, kind: str = "event") -> bytes:
    """One message with JSON in it; `kind` is `event` or `exception`."""
    headers = [(f":{kind}-type", type), (":content-type", "application/json"), (":message-type", kind)]
    return frame(headers, msgspec.json.encode(payload))


def frame(headers: Sequence[tuple[str, str]], payload: bytes) -> bytes:
    """Any message whose headers are texts."""
    told = b"".join(_header(name.encode(), value.encode()) for name, value in headers)
    prelude = struct.pack("!II", len(told) + len(payload) + 16, len(told))
    message = prelude + struct.pack("!I", crc32(prelude)) + told + payload
    return message + struct.pack("!I", crc32(message))


def _header(name: bytes, value: bytes) -> bytes:
    return struct.pack("!B", len(name)) + name + struct.pack("!BH", STRING, len(value)) + value
