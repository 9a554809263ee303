"""A request that a kept answer is the answer to."""

from typing import final

from heterodyne.domain.cache_use import CACHE_POOL, HIT, SIMILAR, EventEdit


@final
class CacheHit:
    """Says so in its record. One per request."""

    __slots__ = ("_age_s", "_cosine", "_usd")

    def __init__(self, age_s: float, usd: float, cosine: float | None = None) -> None:
        self._age_s = age_s
        self._usd = usd
        self._cosine = cosine  # of the prompt that it was the answer to; None: that was the same

    @property
    def outcome(self) -> str:
        return HIT if self._cosine is None else SIMILAR

    @property
    def pool(self) -> str:
        return CACHE_POOL

    @property
    def saved_usd(self) -> float:
        return self._usd

    @property
    def header(self) -> bytes:
        if self._cosine is None:
            return b"x-heterodyne-cache: hit\r\nage: %d\r\n" % self._age_s
        words = b"x-heterodyne-cache: similar\r\nx-heterodyne-cache-similarity: %.3f\r\nage: %d\r\n"
        return words % (self._cosine, self._age_s)

    def take(self, body: bytes) -> None:
        raise AssertionError("no replica is asked")

    def watch(self, edit: EventEdit | None) -> EventEdit:
        raise AssertionError("no replica is asked")

    def settle(self, *, is_whole: bool, model: str, version: str, usd: float) -> None:
        """It stays kept."""
