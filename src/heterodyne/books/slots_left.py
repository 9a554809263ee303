"""Reads what a worker that died has left in its slot file."""

import sys
from collections.abc import Iterator

from msgspec import Struct

from heterodyne.books.encoding import encode_open
from heterodyne.books.flight_slots import (
    AREA_SHIFT,
    DELIVERED,
    ENDING_SHIFT,
    FINISHED,
    FLIGHT_SHIFT,
    FREE,
    HEAD_BYTES,
    MAGIC,
    OPEN,
    OPENING_SHIFT,
    SLOT_BYTES,
    WORD_BYTES,
)


class SlotLeft(Struct, frozen=True):
    """What a dead worker left in one slot."""

    state: int
    encoded: bytes
    delivered: int


def slots_left(content: bytes) -> Iterator[SlotLeft]:
    """The slots in use, in the content of a slot file."""
    if not content.startswith(MAGIC):
        if any(content[: len(MAGIC)]):
            yield SlotLeft(OPEN, b"", 0)  # of another version: something that cannot be read, and is kept
        return  # killed while it was made, before the first request
    for start in range(HEAD_BYTES, len(content) - SLOT_BYTES + 1, SLOT_BYTES):
        state = _word(content, start)
        if state & 3 != FREE:
            yield _left(content[start : start + SLOT_BYTES], state)


def _left(slot: bytes, state: int) -> SlotLeft:
    start = state >> AREA_SHIFT & 0x3FFF
    opening_end, end = start + (state >> OPENING_SHIFT & 0xFFFF), start + (state >> FLIGHT_SHIFT & 0xFFFF)
    opening = slot[start:opening_end]
    if state & 3 == FINISHED:
        encoded = opening + slot[end : end + (state >> ENDING_SHIFT)]
    else:
        encoded = encode_open(opening, slot[opening_end:end])
    return SlotLeft(state & 3, encoded, _word(slot, DELIVERED * WORD_BYTES))


def _word(content: bytes, start: int) -> int:
    return int.from_bytes(content[start : start + WORD_BYTES], sys.byteorder)
