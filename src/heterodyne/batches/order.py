"""Pure: the order in which lines are sent: those whose prompts begin alike one after another.

What two prompts share is computed once if the second comes while the first is in a replica's memory. A key says how
prompts begin at four lengths, so that lines which share much stand closer together than lines which share little;
among equals the order of the input holds.
"""

from hashlib import blake2b
from typing import Final

from heterodyne.batches.lines import BatchLine

LENGTHS: Final = (512, 4096, 16384, 65536)  # bytes
DIGEST_BYTES: Final = 6


def order_key(line: BatchLine) -> bytes:
    """By which lines are sorted."""
    told = blake2b(line.model.encode(), digest_size=DIGEST_BYTES)
    key, done = told.digest(), 0
    prompt = b"".join(memoryview(part) for part in line.prompt_parts)
    for length in LENGTHS:
        told.update(prompt[done:length])
        key += told.digest()
        done = length
    return key


def begin_alike(one: bytes, other: bytes) -> bool:
    """Whether two keys are of prompts that share at least the shortest of the lengths."""
    return one[: 2 * DIGEST_BYTES] == other[: 2 * DIGEST_BYTES]
