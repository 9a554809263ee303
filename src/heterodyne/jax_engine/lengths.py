"""The lengths that programs are compiled for: few enough to compile them all, close enough to waste little."""

LENGTH_MIN = 256
CHUNK_MIN = 16


def cache_length(tokens: int, most: int) -> int:
    """Where `tokens` find room: steps of a quarter of the power of two below them, and never more than `most`."""
    if tokens <= LENGTH_MIN:
        return min(LENGTH_MIN, most)
    step = max(LENGTH_MIN, 1 << ((tokens - 1).bit_length() - 3))
    return min(-(-tokens // step) * step, most)


def cache_lengths(most: int) -> tuple[int, ...]:
    """All that a cache may have."""
    lengths = [cache_length(1, most)]
    while lengths[-1] < most:
        lengths.append(cache_length(lengths[-1] + 1, most))
    return tuple(lengths)


def next_length(now: int, tokens: int, most: int) -> int:
    """Of the cache when `tokens` places of a slot are needed: longer at once, shorter when it is four times too long.

    A longer cache costs every step, a shorter one what idle slots held beyond it.
    """
    wanted = cache_length(tokens, most)
    return wanted if wanted > now or wanted * 4 <= now else now


def chunk_length(tokens: int, most: int) -> int:
    """The power of two that a chunk of a prompt is filled up to."""
    return min(max(CHUNK_MIN, 1 << (tokens - 1).bit_length()), most)


def chunk_lengths(most: int) -> tuple[int, ...]:
    """All that a chunk may be filled up to."""
    lengths = [chunk_length(1, most)]
    while lengths[-1] < most:
        lengths.append(chunk_length(lengths[-1] + 1, most))
    return tuple(lengths)
