"""How much of the prompts was seen before, for a cache without limit and for caches of a few sizes."""

from collections import OrderedDict
from collections.abc import Sequence

from msgspec import Struct

from heterodyne.planning.traffic.trace_request import TraceRequest

CACHE_SIZES_TOKENS = (1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24)


class CacheShare(Struct, frozen=True, kw_only=True):
    """What a cache of one size would find."""

    kv_tokens: int  # that it holds, of all replicas together, when every request finds the one that has its prefix
    share: float  # of all prompt tokens


class SharedPrefix(Struct, frozen=True, kw_only=True):
    """Prompt tokens that an earlier prompt began with too."""

    share: float  # of all prompt tokens, were nothing ever forgotten
    distinct_tokens: int  # what a cache would hold that forgets nothing
    by_size: tuple[CacheShare, ...]  # the least recently used goes first; ends where more would not help


def shared_prefix(log: Sequence[TraceRequest]) -> SharedPrefix | None:
    """Replay the log in its order; None when its lines carry no hashes of blocks."""
    hashed = [arrival for arrival in log if arrival.block_hashes]
    prompts = sum(arrival.prompt_tokens for arrival in hashed)
    if not prompts:
        return None
    seen: set[int | str] = set()
    found = 0
    for arrival in hashed:
        found += _leading_tokens(arrival, seen)
        seen.update(arrival.block_hashes)
    by_size: list[CacheShare] = []
    for size in CACHE_SIZES_TOKENS:
        share = _bounded_hits(hashed, size // hashed[0].block_tokens) / prompts
        by_size.append(CacheShare(kv_tokens=size, share=share))
        if share * prompts >= found:
            break
    distinct = len(seen) * hashed[0].block_tokens
    return SharedPrefix(share=found / prompts, distinct_tokens=distinct, by_size=tuple(by_size))


def _bounded_hits(log: Sequence[TraceRequest], blocks_max: int) -> int:
    cache: OrderedDict[int | str, None] = OrderedDict()
    found = 0
    for arrival in log:
        found += _leading_tokens(arrival, cache)
        # A block is of no use without those in front of it, so the end of a prompt is forgotten before its beginning.
        for block in reversed(arrival.block_hashes):
            cache[block] = None
            cache.move_to_end(block)
        while len(cache) > blocks_max:
            cache.popitem(last=False)
    return found


def _leading_tokens(arrival: TraceRequest, known: set[int | str] | OrderedDict[int | str, None]) -> int:
    blocks = 0
    for block in arrival.block_hashes:
        if block not in known:
            break
        blocks += 1
    return min(blocks * arrival.block_tokens, arrival.prompt_tokens)
