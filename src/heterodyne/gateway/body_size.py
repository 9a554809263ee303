"""Which bodies are read in the worker's own loop, and which beside it.

What takes long in a body is not text but values and escapes: a prompt of 400 KB is read in a fraction of a millisecond,
as many bytes of escapes or small objects in fourteen. Objects and lists are looked for; commas and escapes, which text
has too, are counted in a sample whose places nobody can know beforehand, as counting all of them takes as long as
reading text.
"""

from random import random
from typing import Final

SMALL_BYTES: Final = 16 * 1024  # read without a look: whatever is in them takes less than a millisecond
LARGE_BYTES: Final = 448 * 1024  # a prompt of 100,000 tokens is below it
OPENINGS_MAX: Final = 1024  # of objects, and of lists: messages, tools and what is in them
COMMAS_MAX: Final = 12 * 1024  # English has one for every fifty bytes
ESCAPES_MAX: Final = 32 * 1024
COUNTED_BYTES: Final = 64 * 1024  # in which all of them are counted as quickly
WINDOWS: Final = 96  # of the sample
WINDOW_BYTES: Final = 64


def is_large(body: bytes) -> bool:
    """Whether reading, changing or hashing the body could hold up the loop."""
    size = len(body)
    if size <= SMALL_BYTES:
        return False
    return size > LARGE_BYTES or _has_many(body, b"{") or _has_many(body, b"[") or _is_dense(body)


def has_many_escapes(body: bytes) -> bool:
    """Whether they alone make it large."""
    if len(body) <= COUNTED_BYTES:
        return body.count(b"\\") > ESCAPES_MAX
    sample, share = _sample(body)
    return sample.count(b"\\") * share > ESCAPES_MAX


def _has_many(body: bytes, opening: bytes) -> bool:
    """Finding is twenty times as quick as counting where there are few."""
    at = -1
    for _ in range(OPENINGS_MAX + 1):
        at = body.find(opening, at + 1)
        if at < 0:
            return False
    return True


def _is_dense(body: bytes) -> bool:
    if len(body) <= COUNTED_BYTES:
        return body.count(b",") > COMMAS_MAX or body.count(b"\\") > ESCAPES_MAX
    sample, share = _sample(body)
    return sample.count(b",") * share > COMMAS_MAX or sample.count(b"\\") * share > ESCAPES_MAX


def _sample(body: bytes) -> tuple[bytes, float]:
    """A little from everywhere, and how many times as much the body is."""
    size = len(body)
    step = (size - WINDOW_BYTES) / WINDOWS
    windows = []
    for number in range(WINDOWS):
        at = int((number + random()) * step)  # noqa: S311  # a guess would only make one turn of the loop longer
        windows.append(body[at : at + WINDOW_BYTES])
    return b"".join(windows), size / (WINDOWS * WINDOW_BYTES)
