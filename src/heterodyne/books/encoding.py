"""The bytes of openings, endings and records: a record's are those of its opening, then those of its ending.

All three are arrays. An encoded opening has the head of a whole record, an encoded ending has none.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import fields, replace

from heterodyne.domain.record_block import (
    ARRAY_HEAD,
    OPENING_FIELDS,
    OWN_FIELDS,
    PART_HEAD,
    RecordBlock,
    join_encoded,
)
from heterodyne.domain.usage import FlightTerms, UsageEnding, UsageOpening, UsageRecord
from heterodyne.domain.usage_columns import UsageColumns

OPENING_BYTES_MAX = 742
TERMS_BYTES_MAX = 55
ENDING_BYTES_MAX = 217
REASON_BYTES_MAX = 56
NAME_BYTES_MAX = 64
ID_BYTES_MAX = 64
BATCH_MAX = 2048  # records
COUNT_MAX = 10**12  # a million requests of the largest add up to less than 64 bits hold

# What an array of so many fields begins with: one byte below 16 fields, three from there on.
_RECORD_HEAD = b"\xdc" + len(fields(UsageRecord)).to_bytes(2, "big")
_PAIR_HEAD = b"\x92"
_ROW_HEAD = b"\xdc" + (len(fields(UsageEnding)) + OWN_FIELDS + 1).to_bytes(2, "big")
_COMMON_HEAD = (0x90 | OPENING_FIELDS - OWN_FIELDS).to_bytes()
_NUMBERS = [b"\xcd" + number.to_bytes(2, "big") for number in range(BATCH_MAX)]
_LONG_ID, _FLOAT = 0xD9, 0xCB  # how an id of more than 31 bytes begins, and a time
_OPENING_HEAD = (0x90 | len(fields(UsageOpening))).to_bytes()
_OPENING_SKIP, _RECORD_SKIP = 1, 3
_AT_BYTES = 9

# The project that is charged is never cut; these only say where a request ran, and may be any length in the settings.
_CUT = ("model", "version", "pool", "replica", "hardware")

_WHOLE_COUNTS = (
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "usd_micro",
    "retries",
    "continuations",
    "saved_usd_micro",
)
_COUNTS = (*_WHOLE_COUNTS, "replica_s")

# An ending as its values alone, in the order of its fields. It has the same bytes, and spares the request's path what
# Python takes for a call with more than fifteen names: seven times as long as for a tuple.
# fmt: off
EndingValues = tuple[
    int, str, int, int, int, int, bool, float | None, float | None, float | None, float, float | None, float | None,
    int, bool, int, bool, int, float, str, int,
]
# fmt: on
Ending = UsageEnding | EndingValues
# The same of what a flight is billed by.
TermsValues = tuple[int, float | None, float | None, float | None, float, float]
Terms = FlightTerms | TermsValues

Counted = TypeVar("Counted", UsageEnding, UsageRecord)

_encode = msgspec.msgpack.Encoder().encode
encode_terms: Callable[[Terms], bytes] = _encode  # at most TERMS_BYTES_MAX


class OpenFlight(Struct, frozen=True, array_like=True):
    """A slot whose request has not ended."""

    opening: UsageOpening
    terms: FlightTerms


_decode_open = msgspec.msgpack.Decoder(OpenFlight).decode
_decode_record = msgspec.msgpack.Decoder(UsageRecord).decode


class OpeningForm:
    """All of an opening but its id and its time, encoded once for the many requests that share it."""

    __slots__ = ("_rest",)

    def __init__(self, opening: UsageOpening) -> None:
        """Its own id and time do not matter."""
        longest_id = "x" * ID_BYTES_MAX
        encoded = encode_opening(replace(opening, id=longest_id))
        self._rest = encoded[_RECORD_SKIP + len(_encode(longest_id)) + _AT_BYTES :]

    def fill(self, request_id: str, at: float) -> bytes:
        """What `encode_opening` makes of the opening with this id and time; an id has ID_BYTES_MAX at most."""
        return _RECORD_HEAD + _encode((request_id, at))[1:] + self._rest


def encode_opening(opening: UsageOpening) -> bytes:
    """An opening that fits a slot together with any ending."""
    encoded = _RECORD_HEAD + _encode(opening)[_OPENING_SKIP:]
    if len(encoded) > OPENING_BYTES_MAX:
        cut = {name: _cut(getattr(opening, name), NAME_BYTES_MAX) for name in _CUT}
        encoded = _RECORD_HEAD + _encode(replace(opening, **cut))[_OPENING_SKIP:]
        assert len(encoded) <= OPENING_BYTES_MAX, "ids of tenants, keys and requests are short"
    return encoded


def encode_ending(ending: Ending) -> bytes:
    """An ending that fits a slot behind any opening."""
    try:
        encoded = _encode(ending)
    except OverflowError:  # an engine may claim any number of tokens
        encoded = _encode(_countable(_named(ending)))
    if len(encoded) > ENDING_BYTES_MAX:
        named = _named(ending)
        encoded = _encode(_countable(replace(named, reason=_cut(named.reason, REASON_BYTES_MAX))))
    return encoded[_RECORD_SKIP:]


def encode_finished(opening: bytes, ending: Ending) -> bytes:
    """The whole record."""
    return opening + encode_ending(ending)


def encode_batch(records: Sequence[tuple[bytes, int]]) -> bytes:
    """Whole records, each with the size of its opening, as a block that says once what openings have in common."""
    commons: dict[bytes, int] = {}
    rows: list[bytes] = []
    for record, opening_bytes in records:
        id_head = record[_RECORD_SKIP]
        at = _RECORD_SKIP + (2 + record[_RECORD_SKIP + 1] if id_head == _LONG_ID else 1 + (id_head & 31))
        assert record[at] == _FLOAT, "behind an id is its time"
        own_end = at + _AT_BYTES
        which = commons.setdefault(record[own_end:opening_bytes], len(commons))
        rows.append(b"%b%b%b%b" % (_ROW_HEAD, record[_RECORD_SKIP:own_end], _NUMBERS[which], record[opening_bytes:]))
    return b"".join(
        (
            *(ARRAY_HEAD, b"\0\0\0\1", PART_HEAD),
            join_encoded([_COMMON_HEAD + common for common in commons]),
            join_encoded(rows),
        )
    )


def encode_open(opening: bytes, terms: bytes) -> bytes:
    """A flight, of what its slot holds."""
    return _PAIR_HEAD + _OPENING_HEAD + opening[_RECORD_SKIP:] + terms


def decode_open(encoded: bytes) -> OpenFlight:
    """Raises msgspec.DecodeError for other bytes; so does the next."""
    return _decode_open(encoded)


def decode_record(encoded: bytes) -> UsageRecord:
    """One record."""
    return _countable(_decode_record(encoded))


def countable_block(block: RecordBlock) -> RecordBlock:
    """The same records with numbers that every store can hold; nearly always the block itself."""
    return block if not block or _is_countable(block.columns) else RecordBlock.of(map(_countable, block))


def _is_countable(columns: UsageColumns) -> bool:
    replica_s = columns.floats("replica_s")
    if not ((replica_s >= 0) & (replica_s <= COUNT_MAX)).all():
        return False
    try:
        counts = [columns.integers(name) for name in _WHOLE_COUNTS]
    except OverflowError:
        return False
    return all(each.min() >= 0 and each.max() <= COUNT_MAX for each in counts)


def _countable(usage: Counted) -> Counted:
    """Numbers that every store can hold and add up; nonsense becomes the nearest that is not."""
    wrong = {
        name: min(max(0, count), COUNT_MAX) for name in _COUNTS if not 0 <= (count := getattr(usage, name)) <= COUNT_MAX
    }
    return replace(usage, **wrong) if wrong else usage


def _named(ending: Ending) -> UsageEnding:
    if isinstance(ending, UsageEnding):
        return ending
    values: dict[str, Any] = dict(zip(UsageEnding.__struct_fields__, ending, strict=True))
    return UsageEnding(**values)


def _cut(text: str, bytes_max: int) -> str:
    return text.encode()[:bytes_max].decode(errors="ignore")
