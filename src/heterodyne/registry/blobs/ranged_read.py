"""A file from a place that is read in ranges: several at once, hashed in their order while they are written.

One stream is slower than a disk or an object store is, and a hash after the last byte would read everything twice. What
came of a file that was broken off is gone on with.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.ports.blobs import OnBytes
from heterodyne.registry.files import RunningHash

ReadRange = Callable[[int, int], bytes]  # from a byte to before another


class ReadTerms(Struct, frozen=True, kw_only=True):
    """How a place is read."""

    readers: int = 8  # at once
    range_bytes: int = 8 << 20
    timeout_s: float = 60.0  # without a byte
    attempts_max: int = 5  # of one range


def read_ranged(
    read: ReadRange, size_bytes: int, part: Path, running: RunningHash, *, on_bytes: OnBytes, terms: ReadTerms
) -> int:
    """Bring all of it to `part`, and show it to the hash; how much of it was there. Blocking.

    Raises WeightsUnavailable where nothing comes for too long, and whatever reading and writing raise.
    """
    have_bytes = _kept_bytes(part, size_bytes, terms.range_bytes)
    readers = ThreadPoolExecutor(terms.readers, "weights-read")
    try:
        with part.open("r+b" if have_bytes else "wb") as file, ThreadPoolExecutor(1, "weights-write") as writer:
            _hash_kept(file, have_bytes, running, terms.range_bytes)
            on_bytes(have_bytes)
            coming: deque[Future[bytes]] = deque()
            asked_bytes = have_bytes
            while asked_bytes < size_bytes or coming:
                while asked_bytes < size_bytes and len(coming) < terms.readers:
                    end = min(asked_bytes + terms.range_bytes, size_bytes)
                    coming.append(readers.submit(_whole_range, read, asked_bytes, end))
                    asked_bytes = end
                data = _arrived(coming.popleft(), part, terms)
                written = writer.submit(file.write, data)
                running.update(data)
                written.result()
                on_bytes(len(data))
            file.truncate(size_bytes)
        return have_bytes
    finally:
        readers.shutdown(wait=False, cancel_futures=True)  # one that hangs has its own deadline


def _kept_bytes(part: Path, size_bytes: int, range_bytes: int) -> int:
    """What is there already, in whole ranges; more than there should be is of something else."""
    there = part.stat().st_size if part.exists() else 0
    return there // range_bytes * range_bytes if there <= size_bytes else 0


def _hash_kept(file: BinaryIO, have_bytes: int, running: RunningHash, range_bytes: int) -> None:
    """Leaves the position behind what is kept."""
    for _ in range(0, have_bytes, range_bytes):
        running.update(file.read(range_bytes))
    file.seek(have_bytes)


def _whole_range(read: ReadRange, start: int, end: int) -> bytes:
    data = read(start, end)
    if len(data) != end - start:
        raise WeightsUnavailable(f"of the bytes {start} to {end} there are {len(data)}; the file was cut")
    return data


def _arrived(coming: "Future[bytes]", part: Path, terms: ReadTerms) -> bytes:
    try:
        return coming.result(terms.timeout_s * terms.attempts_max)
    except TimeoutError as error:
        raise WeightsUnavailable(f"{part.name}: nothing came for {terms.timeout_s * terms.attempts_max:g} s") from error
