"""The black box of a worker: one slot in a mapped file for each request in flight.

The pages belong to the kernel, so what was stored in them outlives `kill -9`. A slot has two areas: news is written
into the one that is not in use, and one store of eight bytes makes it count, so a death between two instructions leaves
either the old or the new. The space is taken when the file is made: a store into a mapped page finds no full disk.
"""

import fcntl
import mmap
import os
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from heterodyne.books.encoding import encode_finished, encode_open, encode_opening
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.usage import FlightTerms, UsageEnding, UsageOpening

MAGIC = b"HDNSLOT1"
HEAD_BYTES = 4096
SLOT_BYTES = 2048
WORD_BYTES = 8
AREA_BYTES = 992
DELIVERED = 1  # the word of a slot that counts tokens; word 0 is its state

FREE, OPEN, FINISHED = 0, 1, 2  # the lowest two bits of a state; then 14 for where its area is, then the length

UNPRICED = FlightTerms()


class FlightSlots:
    """One per worker life; used by its event loop, and by the spool's thread to free what is written."""

    def __init__(self, path: Path, slots_max: int) -> None:
        """Takes the space on the disk, so it blocks; raises OSError where there is none."""
        self.path = path
        self.slots_max = slots_max
        self._file = _made(path, slots_max)
        self.map = mmap.mmap(self._file, HEAD_BYTES + slots_max * SLOT_BYTES)
        self.words = memoryview(self.map).cast("Q")
        self._free = deque(FlightSlot(self, index) for index in range(slots_max - 1, -1, -1))  # a stack: few pages

    def open(self, opening: UsageOpening, terms: FlightTerms = UNPRICED) -> "FlightSlot":
        """A slot for a request that may now be answered; raises when every slot is taken.

        Slots are taken by requests in flight and by those whose record is not on the disk yet. So a disk that takes
        nothing ends in refusals, and not in answers that nobody can account for.
        """
        if not self._free:
            raise StoreUnavailable(
                f"All {self.slots_max} places for requests and unwritten records are taken. Try again later.",
                retry_after_s=1,
            )
        slot = self._free.pop()
        slot.place(opening, terms)
        return slot

    def free(self, *slots: "FlightSlot") -> None:
        """Their records are on the disk."""
        words, free = self.words, self._free
        for slot in slots:
            word = slot.word
            words[word] = FREE
            words[word + DELIVERED] = 0
            free.append(slot)

    @property
    def taken(self) -> int:
        """Slots in use."""
        return self.slots_max - len(self._free)

    def close(self) -> None:
        """Leave the file to whoever recovers it, or remove it when nothing is left in it."""
        if self.taken == 0:
            self.path.unlink(missing_ok=True)
        self.words.release()
        self.map.close()
        os.close(self._file)


class FlightSlot:
    """One request's place in the box, another's when it was freed."""

    __slots__ = ("_areas", "_map", "_opening", "word", "words")

    def __init__(self, slots: FlightSlots, index: int) -> None:
        start = HEAD_BYTES + index * SLOT_BYTES
        self._areas = (start + SLOT_BYTES - AREA_BYTES, start + SLOT_BYTES - 2 * AREA_BYTES)  # that in use, the other
        self._map = slots.map
        self._opening = b""  # encoded once for both of its uses
        self.word = start // WORD_BYTES
        self.words = slots.words

    def place(self, opening: UsageOpening, terms: FlightTerms = UNPRICED) -> None:
        """Say where the request is asked, again when it moves to another replica. What was delivered stays."""
        self._opening = encoded = encode_opening(opening)
        self._put(OPEN, encode_open(encoded, terms))

    def finish(self, ending: UsageEnding) -> bytes:
        """Keep the whole record until it is on the disk; its bytes."""
        record = encode_finished(self._opening, ending)
        self._put(FINISHED, record)
        return record

    @property
    def delivered(self) -> int:
        """Tokens of the answer that the client was given so far, over all replicas.

        Set it before the bytes go out: at a death the count is then right, or over by the one event in hand. A stream
        that counts every event may keep `words` and `word + DELIVERED` and store there itself.
        """
        return self.words[self.word + DELIVERED]

    @delivered.setter
    def delivered(self, tokens: int) -> None:
        self.words[self.word + DELIVERED] = tokens

    def _put(self, state: int, encoded: bytes) -> None:
        """News that replaces the old at once and whole."""
        old, new = self._areas
        length = len(encoded)
        self._map[new : new + length] = encoded
        self.words[self.word] = state | new % SLOT_BYTES << 2 | length << 16
        self._areas = new, old


class SlotLeft(Struct, frozen=True):
    """What a dead worker left in one slot."""

    state: int
    encoded: bytes
    delivered: int


def slots_left(content: bytes) -> Iterator[SlotLeft]:
    """The slots in use, in the content of a slot file."""
    if content[: len(MAGIC)] != MAGIC:
        return  # killed while it was made, before the first request
    for start in range(HEAD_BYTES, len(content) - SLOT_BYTES + 1, SLOT_BYTES):
        word = _word(content, start)
        state, area, length = word & 3, start + (word >> 2 & 0x3FFF), word >> 16
        if state != FREE:
            yield SlotLeft(state, content[area : area + length], _word(content, start + DELIVERED * WORD_BYTES))


def _made(path: Path, slots_max: int) -> int:
    """A file that is locked while this process lives, with its space taken."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with os.fdopen(file, "wb", closefd=False) as content:
            for _ in range(slots_max):
                content.write(bytes(SLOT_BYTES))
            content.write(bytes(HEAD_BYTES))
            content.flush()
            content.seek(0)
            content.write(MAGIC)
    except BaseException:
        path.unlink(missing_ok=True)
        os.close(file)
        raise
    return file


def _word(content: bytes, start: int) -> int:
    return int.from_bytes(content[start : start + WORD_BYTES], sys.byteorder)
