"""Which bodies are read in the worker's own loop, and which beside it.

What takes long in a body is not text but values: a prompt of 400 KB is read in a millisecond, as many bytes of small
objects in fourteen. The signs that values cannot do without are quickly looked for, and text has few of them; by these
bounds the worst body that is read in the loop, all escapes, takes less than four milliseconds.
"""

SMALL_BYTES = 16 * 1024  # read without a look: whatever is in them takes less than a millisecond
LARGE_BYTES = 448 * 1024  # a prompt of 100,000 tokens is below it
OPENINGS_MAX = 1024  # of objects, and of lists: messages, tools and what is in them
COMMAS_MAX = 12 * 1024  # English has one for every fifty bytes


def is_large(body: bytes) -> bool:
    """Whether reading, changing or hashing the body could hold up the loop."""
    size = len(body)
    if size <= SMALL_BYTES:
        return False
    return size > LARGE_BYTES or _has_many(body, b"{") or _has_many(body, b"[") or body.count(b",") > COMMAS_MAX


def _has_many(body: bytes, opening: bytes) -> bool:
    """Finding is twenty times as quick as counting where there are few."""
    at = -1
    for _ in range(OPENINGS_MAX + 1):
        at = body.find(opening, at + 1)
        if at < 0:
            return False
    return True
