"""Amazon's binary event streams (`application/vnd.amazon.eventstream`), read side: messages out of bytes cut anywhere.

    total length | length of headers | CRC of both | headers | payload | CRC of all before it

Numbers are big-endian and of four bytes. A header is a name and a typed value; streams of JSON use texts alone.
"""

import struct
from typing import Final, NamedTuple
from zlib import crc32

MEDIA_TYPE: Final = b"application/vnd.amazon.eventstream"
PRELUDE_BYTES: Final = 12
FRAME_BYTES: Final = PRELUDE_BYTES + 4
MESSAGE_BYTES_MAX: Final = 1 << 20
STRING: Final = 7
VALUE_BYTES: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # by type, of those that are always as long
VARIABLE: Final = (6, STRING)

_PRELUDE: Final = struct.Struct("!III")
_CRC: Final = struct.Struct("!I")
_LENGTH: Final = struct.Struct("!H")


class AmazonEventsInvalid(ValueError):
    """The bytes are no such stream."""


class AmazonEvent(NamedTuple):
    """One message; of its headers those that are texts."""

    headers: dict[str, str]
    payload: bytes


class AmazonEvents:
    """Takes a stream in pieces of any size and gives back its messages."""

    def __init__(self) -> None:
        self._rest = b""

    @property
    def is_between(self) -> bool:
        """Whether no message has come in part."""
        return not self._rest

    def feed(self, data: bytes) -> list[AmazonEvent]:
        """Those that are whole by now; raises AmazonEventsInvalid."""
        data = self._rest + data if self._rest else data
        found: list[AmazonEvent] = []
        start = 0
        while len(data) - start >= PRELUDE_BYTES:
            total, headers_bytes, crc = _PRELUDE.unpack_from(data, start)
            if crc32(data[start : start + PRELUDE_BYTES - 4]) != crc:
                raise AmazonEventsInvalid("the checksum of a prelude is wrong")
            if not headers_bytes + FRAME_BYTES <= total <= MESSAGE_BYTES_MAX:
                raise AmazonEventsInvalid(f"a message of {total} bytes with {headers_bytes} of headers")
            if len(data) - start < total:
                break
            found.append(_message(data[start : start + total], headers_bytes))
            start += total
        self._rest = data[start:]
        return found


def _message(data: bytes, headers_bytes: int) -> AmazonEvent:
    if crc32(data[:-4]) != _CRC.unpack_from(data, len(data) - 4)[0]:
        raise AmazonEventsInvalid("the checksum of a message is wrong")
    end = PRELUDE_BYTES + headers_bytes
    try:
        return AmazonEvent(_headers(data[PRELUDE_BYTES:end]), data[end:-4])
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise AmazonEventsInvalid("the headers of a message cannot be read") from error


def _headers(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        name, at = _slice(data, at + 1, data[at])
        kind, at = data[at], at + 1
        if kind in VARIABLE:
            value, at = _slice(data, at + 2, _LENGTH.unpack_from(data, at)[0])
            if kind == STRING:
                found[name.decode()] = value.decode()
        elif kind in VALUE_BYTES:
            _, at = _slice(data, at, VALUE_BYTES[kind])
        else:
            raise AmazonEventsInvalid(f"a header of the unknown type {kind}")
    return found


def _slice(data: bytes, start: int, length: int) -> tuple[bytes, int]:
    end = start + length
    if end > len(data):
        raise IndexError(end)
    return data[start:end], end
