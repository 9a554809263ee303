"""Memory of large bodies comes from the system and goes back to it.

The C library's own habit is to keep freed memory of up to 32 MiB for later and to grow a buffer there by copying it,
which for a body takes longer than a turn of the loop may. A block of its own grows by moving its pages.
"""

import ctypes

OWN_BLOCK_BYTES = 1 << 20
M_MMAP_THRESHOLD = -3  # of glibc's malloc.h


def give_large_allocations_their_own_blocks() -> None:
    """For this process; other C libraries have no such habit and no such call."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, OWN_BLOCK_BYTES)
