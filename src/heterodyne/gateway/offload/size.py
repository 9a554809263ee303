"""Which bodies are read in the worker's own loop, and which beside it."""

SMALL_BYTES = 16 * 1024  # read without a look: whatever is in them takes less than a millisecond
LARGE_BYTES = 64 * 1024
COMMAS_MAX = 1024  # JSON has no more values than a few for each comma, and it is values that take long, not text


def is_large(body: bytes) -> bool:
    """Whether reading, changing or hashing the body could hold up the loop."""
    size = len(body)
    return size > SMALL_BYTES and (size > LARGE_BYTES or len(body.split(b",", COMMAS_MAX)) > COMMAS_MAX)
