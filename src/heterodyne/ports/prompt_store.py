"""Where prompts of semantic caches are kept for several workers and gateways, with their answers."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from heterodyne.domain.cache_drop import CacheDrop


class StoredPrompt(Struct, frozen=True, kw_only=True):
    """One prompt as a store has it: what it is found by, what it may be dropped by, and sealed bytes."""

    fence: bytes  # only prompts of one fence are compared
    answer_key: bytes  # one entry of a fence has it
    vector: Sequence[float]
    model: str
    project: str
    tags: tuple[str, ...]
    asked_at_s: float
    sealed: bytes


class PromptStore(Protocol):
    """Prompts by what they mean, for a time. It may forget anything at any moment."""

    async def nearest(self, fence: bytes, vector: Sequence[float]) -> list[bytes]:
        """What was sealed of the few nearest ones, the nearest first; raises StoreUnavailable where it does not answer
        in time."""
        ...

    async def put(self, prompt: StoredPrompt, ttl_s: float) -> None:
        """In the place of an older one of its key; raises StoreUnavailable as well."""
        ...

    async def remove(self, drop: CacheDrop) -> int:
        """Forget what was dropped; how many those were. Raises StoreUnavailable as well."""
        ...

    async def close(self) -> None: ...
