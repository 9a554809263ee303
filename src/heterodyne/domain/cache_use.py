"""What a cache of answers has to do with one request, as the way of requests knows it."""

from collections.abc import Callable
from typing import Final, Protocol

EventEdit = Callable[[bytes], tuple[bytes, ...]]

HIT: Final = "hit"
SIMILAR: Final = "similar"  # an answer to another prompt that means the same
MISS: Final = "miss"
# What records have in the place of a pool, for answers that no replica was asked for.
CACHE_POOL: Final = "cache"
CASCADE_POOL: Final = "cascade"


class CacheUse(Protocol):
    """One for each request that an answer was looked up for."""

    @property
    def outcome(self) -> str:
        """Whether there was one: HIT, SIMILAR or MISS."""
        ...

    @property
    def pool(self) -> str:
        """Where the answer comes from, if not from a replica; empty: one is asked."""
        ...

    @property
    def saved_usd(self) -> float | None:
        """What the answer cost when a replica gave it; None: none was kept."""
        ...

    @property
    def header(self) -> bytes:
        """What the client is told of it."""
        ...

    def take(self, body: bytes) -> None:
        """A replica's whole answer, in OpenAI's words and before policies see it."""
        ...

    def watch(self, edit: EventEdit | None) -> EventEdit:
        """The same edit of a replica's events, with an eye on what they say."""
        ...

    def settle(self, *, is_whole: bool, model: str, version: str, usd: float) -> None:
        """The request has ended, with a whole answer of this model or without."""
        ...
