"""The black box of a worker: one slot in a mapped file for each request in flight.

The pages belong to the kernel, so what was stored in them outlives `kill -9`. A slot has two areas: news is written
where nothing is in use, an opening into the other area and an ending behind its opening, and one store of eight bytes
makes it count, so a death between two instructions leaves either the old or the new. The space is taken when the file
is made: a store into a mapped page finds no full disk.
"""

import fcntl
import mmap
import os
from collections import deque
from pathlib import Path
from typing import Final

from heterodyne.books.encoding import (
    ENDING_BYTES_MAX,
    OPENING_BYTES_MAX,
    TERMS_BYTES_MAX,
    Ending,
    Terms,
    encode_ending,
    encode_terms,
)
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.usage import FlightTerms

MAGIC: Final = b"HDNSLOT2"
HEAD_BYTES: Final = 4096
SLOT_BYTES: Final = 2048
WORD_BYTES: Final = 8
DELIVERED: Final = 1  # the word of a slot that counts tokens; word 0 is its state
AREAS_AT: Final = (
    2 * WORD_BYTES
)  # right behind them: what one request stores lies in few lines of the processor's cache
AREA_BYTES: Final = 1016
assert AREA_BYTES >= OPENING_BYTES_MAX + TERMS_BYTES_MAX + ENDING_BYTES_MAX
assert SLOT_BYTES >= AREAS_AT + 2 * AREA_BYTES

# A state: two bits of these, 14 for where in the slot its area is, then 16 each for how long are its opening, that with
# the terms behind it, and the ending behind both.
FREE: Final = 0
OPEN: Final = 1
FINISHED: Final = 2
AREA_SHIFT: Final = 2
OPENING_SHIFT: Final = 16
FLIGHT_SHIFT: Final = 32
ENDING_SHIFT: Final = 48

UNPRICED: Final = FlightTerms()


class FlightSlots:
    """One per worker life; used by its event loop, and by the spool's thread to free what is written."""

    def __init__(self, path: Path, slots_max: int, *, is_opened: bool = True) -> None:
        """Takes the space on the disk, so it blocks; raises OSError where there is none.

        Not opened, it has no slots before `open_file`, and requests are refused.
        """
        self.path = path
        self.slots_max = slots_max
        self.problem: str | None = "their file is not there yet"  # why there are none; None: there are
        self._file = -1
        self.map: mmap.mmap
        self.words: memoryview
        self._free: deque[FlightSlot] = deque()
        if is_opened:
            self.open_file()

    def open_file(self) -> None:
        """Take the space on the disk, once; raises OSError where there is none."""
        if self._file >= 0:
            return
        try:
            file = _made(self.path, self.slots_max)
        except OSError as error:
            self.problem = str(error.strerror or error)
            raise
        self._file = file
        self.map = mmap.mmap(file, HEAD_BYTES + self.slots_max * SLOT_BYTES)
        self.words = memoryview(self.map).cast("Q")
        slots = [FlightSlot(self, index) for index in range(self.slots_max - 1, -1, -1)]
        self.problem = None
        self._free.extend(slots)  # a stack: few pages

    def open_encoded(self, opening: bytes, terms: Terms = UNPRICED) -> "FlightSlot":
        """A slot for a request that may now be answered, by its encoded opening; raises when every slot is taken.

        Slots are taken by requests in flight and by those whose record is not on the disk yet. So a disk that takes
        nothing ends in refusals, and not in answers that cannot be accounted for.
        """
        if not self._free:
            if self.problem is not None:
                raise StoreUnavailable(
                    f"There is no place to write down what a request uses: {self.problem}. Try again later.",
                    retry_after_s=1,
                )
            raise StoreUnavailable(
                f"All {self.slots_max} places for requests and unwritten records are taken. Try again later.",
                retry_after_s=1,
            )
        slot = self._free.pop()
        slot.place_encoded(opening, terms)
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
        return 0 if self._file < 0 else self.slots_max - len(self._free)

    def close(self) -> None:
        """Leave the file for recovery, or remove it when nothing is left in it."""
        if self._file < 0:
            return
        if self.taken == 0:
            self.path.unlink(missing_ok=True)
        self.words.release()
        self.map.close()
        os.close(self._file)


class FlightSlot:
    """One request's place in the file, another's when it was freed."""

    __slots__ = ("_areas", "_end", "_map", "_next", "_opening", "_state", "word", "words")

    def __init__(self, slots: FlightSlots, index: int) -> None:
        start = HEAD_BYTES + index * SLOT_BYTES
        self._areas = (start + AREAS_AT, start + AREAS_AT + AREA_BYTES)
        self._next = 0  # the area of the next opening: the first, unless a request moves
        self._end = 0  # of what is in use
        self._map = slots.map
        self._opening = b""  # encoded once for both of its uses
        self._state = FREE
        self.word = start // WORD_BYTES
        self.words = slots.words

    def place_encoded(self, opening: bytes, terms: Terms = UNPRICED) -> None:
        """Note where the request is sent, again when it moves to another replica. What was delivered stays."""
        opening_bytes = len(opening)
        assert opening_bytes <= OPENING_BYTES_MAX, "a slot does not reach into the next"
        flight = opening + encode_terms(terms)
        flight_bytes = len(flight)
        area = self._next
        start = self._areas[area]
        self._end = end = start + flight_bytes
        self._map[start:end] = flight
        lengths = opening_bytes << OPENING_SHIFT | flight_bytes << FLIGHT_SHIFT
        self._state = state = OPEN | start % SLOT_BYTES << AREA_SHIFT | lengths
        self.words[self.word] = state
        self._next = 1 - area
        self._opening = opening

    def finish(self, ending: Ending) -> bytes:
        """Keep the whole record until it is on the disk; its bytes."""
        encoded = encode_ending(ending)
        start, length = self._end, len(encoded)
        self._map[start : start + length] = encoded
        self.words[self.word] = self._state ^ OPEN ^ FINISHED | length << ENDING_SHIFT
        self._next = 0
        return self._opening + encoded

    @property
    def opening_bytes(self) -> int:
        """How much of its record is the opening."""
        return len(self._opening)

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


def _made(path: Path, slots_max: int) -> int:
    """A file that is locked while this process lives, with its space taken."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _take_space(file, HEAD_BYTES + slots_max * SLOT_BYTES)
        os.pwrite(file, MAGIC, 0)
    except BaseException:
        path.unlink(missing_ok=True)
        os.close(file)
        raise
    return file


def _take_space(file: int, size_bytes: int) -> None:
    """A store into a mapped page that has no place on the disk would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size_bytes)
        return
    for start in range(0, size_bytes, SLOT_BYTES):
        os.pwrite(file, bytes(min(SLOT_BYTES, size_bytes - start)), start)
