"""The bytes of openings, endings and records, which are arrays so that the first two make the third."""

from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import fields, replace

from heterodyne.domain.usage import FlightTerms, UsageEnding, UsageOpening, UsageRecord

OPENING_BYTES_MAX = 740
ENDING_BYTES_MAX = 240
REASON_BYTES_MAX = 64
NAME_BYTES_MAX = 64
COUNT_MAX = 10**12  # a million requests of the largest add up to less than 64 bits hold

# What an array of so many fields begins with: one byte below 16 fields, three from there on.
_RECORD_HEAD = b"\xdc" + len(fields(UsageRecord)).to_bytes(2, "big")
_PAIR_HEAD = b"\x92"
_BATCH_HEAD = b"\xdd"
_OPENING_SKIP, _ENDING_SKIP = 1, 3

# Whom a request is charged to is never cut; these only say where it ran, and may be any length in the settings.
_CUT = ("model", "version", "pool", "replica", "hardware")

_COUNTS = (
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "usd_micro",
    "retries",
    "continuations",
    "replica_s",
)

Counted = TypeVar("Counted", UsageEnding, UsageRecord)

_encode = msgspec.msgpack.Encoder().encode


class OpenFlight(Struct, frozen=True, array_like=True):
    """A slot whose request has not ended."""

    opening: UsageOpening
    terms: FlightTerms


_decode_open = msgspec.msgpack.Decoder(OpenFlight).decode
_decode_record = msgspec.msgpack.Decoder(UsageRecord).decode
_decode_batch = msgspec.msgpack.Decoder(tuple[UsageRecord, ...]).decode


def encode_opening(opening: UsageOpening) -> bytes:
    """An opening that fits a slot together with any ending."""
    encoded = _encode(opening)
    if len(encoded) > OPENING_BYTES_MAX:
        cut = {name: _cut(getattr(opening, name), NAME_BYTES_MAX) for name in _CUT}
        encoded = _encode(replace(opening, **cut))
        assert len(encoded) <= OPENING_BYTES_MAX, "ids of tenants, keys and requests are short"
    return encoded


def encode_open(opening: bytes, terms: FlightTerms) -> bytes:
    """What a slot holds while its request runs."""
    return _PAIR_HEAD + opening + _encode(terms)


def encode_finished(opening: bytes, ending: UsageEnding) -> bytes:
    """The whole record."""
    try:
        encoded = _encode(ending)
    except OverflowError:  # an engine may claim any number of tokens
        encoded = _encode(_countable(ending))
    if len(encoded) > ENDING_BYTES_MAX:
        encoded = _encode(replace(ending, reason=_cut(ending.reason, REASON_BYTES_MAX)))
    return _RECORD_HEAD + opening[_OPENING_SKIP:] + encoded[_ENDING_SKIP:]


def encode_batch(records: list[bytes]) -> bytes:
    """Encoded records as one array."""
    return b"%b%b%b" % (_BATCH_HEAD, len(records).to_bytes(4, "big"), b"".join(records))


def decode_open(encoded: bytes) -> OpenFlight:
    """Raises msgspec.DecodeError for other bytes; so do the others."""
    return _decode_open(encoded)


def decode_record(encoded: bytes) -> UsageRecord:
    """One record."""
    return _countable(_decode_record(encoded))


def decode_batch(encoded: bytes) -> tuple[UsageRecord, ...]:
    """The records of one batch."""
    return tuple(map(_countable, _decode_batch(encoded)))


def _countable(usage: Counted) -> Counted:
    """Numbers that every store can hold and add up; nonsense becomes the nearest that is not."""
    wrong = {
        name: min(max(count, 0), COUNT_MAX) for name in _COUNTS if not 0 <= (count := getattr(usage, name)) <= COUNT_MAX
    }
    return replace(usage, **wrong) if wrong else usage


def _cut(text: str, bytes_max: int) -> str:
    return text.encode()[:bytes_max].decode(errors="ignore")
