"""Many records in one value, as they are spooled, handed to the store and kept there.

A block is an array of parts. A part says once what many of its requests have in common, which is all of an opening but
its id and its time, and then has a row for each: id, time, which of those it was, and the ending's values. Versions
before wrote an array of whole records, which is read like it.

What is added up is read from it column by column; objects are made when somebody looks at single records.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final, get_type_hints, overload

import msgspec

from heterodyne.domain.usage import UsageOpening, UsageRecord
from heterodyne.domain.usage_columns import FIELDS, Part, Row, UsageColumns

ARRAY_HEAD: Final = (
    b"\xdd"  # of an array whose length takes four bytes, so that blocks are joined without a look inside
)
PART_HEAD: Final = b"\x92"
HEAD_BYTES: Final = 5
OWN_FIELDS: Final = 2  # of an opening, at its start: its id and its time
OPENING_FIELDS: Final = len(UsageOpening.__struct_fields__)

_which = itemgetter(OWN_FIELDS)
_HINTS = get_type_hints(UsageRecord)
_TYPES = [_HINTS[name] for name in FIELDS]
_COMMON_TYPES = tuple(_TYPES[OWN_FIELDS:OPENING_FIELDS])
_ROW_TYPES = (*_TYPES[:OWN_FIELDS], int, *_TYPES[OPENING_FIELDS:])

_encode = msgspec.msgpack.Encoder().encode
_decode_records = msgspec.msgpack.Decoder(tuple[UsageRecord, ...]).decode
_Common: Any = tuple[_COMMON_TYPES]  # type: ignore[valid-type]  # made of the fields
_Row: Any = tuple[_ROW_TYPES]  # type: ignore[valid-type]  # likewise
_decode_parts: Any = msgspec.msgpack.Decoder(list[tuple[list[_Common], list[_Row]]]).decode
_decode_any_parts: Any = msgspec.msgpack.Decoder(list[tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]]).decode


class RecordBlock(Sequence[UsageRecord]):
    """Some records in their order. Never changed."""

    __slots__ = ("_columns", "_count", "_parts", "_records", "content")

    def __init__(self, content: bytes, count: int) -> None:
        self.content = content
        self._count = count
        self._parts: Sequence[Part] | None = None
        self._columns: UsageColumns | None = None
        self._records: Sequence[UsageRecord] | None = None

    @classmethod
    def of(cls, records: Iterable[UsageRecord]) -> "RecordBlock":
        """Of records that are objects; of a block itself."""
        if isinstance(records, RecordBlock):
            return records
        some = tuple(records)
        block = cls(join_encoded([_encode(record) for record in some]), len(some))
        block._records = some
        return block

    @classmethod
    def read(cls, content: bytes) -> "RecordBlock":
        """Of its content; raises msgspec.DecodeError for bytes that are none."""
        parts = _try_parts(content)
        if parts is not None:
            block = cls(content, sum(len(rows) for _, rows in parts))
            block._parts = parts
        else:
            records = _other_records(content)
            block = cls(content, len(records))
            block._records = records
        return block

    @classmethod
    def joined(cls, blocks: Sequence["RecordBlock"]) -> "RecordBlock":
        """All of them as one; what was read of them is not read again."""
        if len(blocks) == 1:
            return blocks[0]
        parts: list[Part] = []
        for block in blocks:
            if block._parts is None:  # of whole records, which cannot stand among parts
                return cls.of(record for one in blocks for record in one)
            parts += block._parts
        content = join_encoded([block.content[HEAD_BYTES:] for block in blocks], len(parts))
        whole = cls(content, sum(map(len, blocks)))
        whole._parts = parts
        return whole

    @property
    def columns(self) -> UsageColumns:
        """Its fields; of an empty block there are none."""
        if self._columns is None:
            parts = self._known_parts()
            self._columns = UsageColumns.of_records(self._objects()) if parts is None else UsageColumns.of_parts(parts)
        return self._columns

    def undecoded(self) -> "RecordBlock":
        """The same records, without what was made of their bytes: a tenth of the memory."""
        return RecordBlock(self.content, self._count)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[UsageRecord]:
        return iter(self._objects())

    def __reversed__(self) -> Iterator[UsageRecord]:
        return reversed(self._objects())

    @overload
    def __getitem__(self, place: int) -> UsageRecord: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[UsageRecord]: ...
    def __getitem__(self, place: int | slice) -> UsageRecord | Sequence[UsageRecord]:
        return self._objects()[place]

    def _objects(self) -> Sequence[UsageRecord]:
        if self._records is None:
            parts = self._known_parts()
            self._records = _other_records(self.content) if parts is None else _records_of(parts)
        return self._records

    def _known_parts(self) -> Sequence[Part] | None:
        """None: its records are whole, or of a version with other fields."""
        return _try_parts(self.content) if self._parts is None else self._parts


def join_encoded(encoded: Sequence[bytes], count: int | None = None) -> bytes:
    """Encoded records, or the parts of blocks, as the content of one."""
    return b"%b%b%b" % (ARRAY_HEAD, (len(encoded) if count is None else count).to_bytes(4, "big"), b"".join(encoded))


def _has_parts(content: bytes) -> bool:
    return content[:1] == ARRAY_HEAD and content[HEAD_BYTES : HEAD_BYTES + 1] == PART_HEAD


def _try_parts(content: bytes) -> list[Part] | None:
    """None: there are none, or they are of a version with other fields."""
    if not _has_parts(content):
        return None
    try:
        parts: list[Part] = _decode_parts(content)
    except msgspec.ValidationError:
        return None
    for commons, rows in parts:
        named = set(map(_which, rows))
        if named and not (min(named) >= 0 and max(named) < len(commons)):
            raise msgspec.DecodeError("a row names what its part does not have")
    return parts


def _other_records(content: bytes) -> tuple[UsageRecord, ...]:
    """Of whole records, or of parts of another version: of fewer values the others take their defaults."""
    return _records_of(_decode_any_parts(content)) if _has_parts(content) else _decode_records(content)


def _records_of(parts: Iterable[Part]) -> tuple[UsageRecord, ...]:
    rows: list[Row] = []
    for commons, some in parts:
        try:
            rows += [(*row[:OWN_FIELDS], *commons[row[OWN_FIELDS]], *row[OWN_FIELDS + 1 :]) for row in some]
        except (IndexError, TypeError) as error:
            raise msgspec.DecodeError("a row names what its part does not have") from error
    return msgspec.convert(rows, tuple[UsageRecord, ...])
