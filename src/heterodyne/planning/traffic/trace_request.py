"""One request as a log tells of it."""

from msgspec import Struct


class TraceRequest(Struct, frozen=True, kw_only=True, gc=False):
    """When it came, how long it was, and what else the log knows."""

    at_s: float
    prompt_tokens: int
    output_tokens: int
    cached_tokens: int | None = None  # None: the log does not say
    duration_s: float | None = None  # None: the log does not say
    block_hashes: tuple[int | str, ...] = ()  # of the prompt's blocks, each with all before it; empty: not logged
    block_tokens: int = 512
