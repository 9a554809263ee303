"""Answers in memory, within a bound: what was not asked for the longest gives way."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from heterodyne.caching.drops import CacheDrops
from heterodyne.caching.entry import CachedAnswer

ENTRY_BYTES: Final = 600  # of one answer besides its body: its key, its fence and what Python takes


class KeptAnswers:
    """One per worker."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._answers: OrderedDict[bytes, CachedAnswer] = OrderedDict()  # by key; the latest asked for is the last
        self.size_bytes = 0
        self.drops = CacheDrops()

    def __len__(self) -> int:
        return len(self._answers)

    def try_get(self, key: bytes, fence: bytes, now_s: float) -> CachedAnswer | None:
        """An answer whose time has not passed; None: there is none for whoever asks."""
        answer = self._answers.get(key)
        if answer is None or answer.fence != fence:
            return None
        if not answer.is_fresh(now_s) or self.drops.has_dropped(answer):
            self._forget(key)
            return None
        self._answers.move_to_end(key)
        return answer

    def put(self, answer: CachedAnswer) -> None:
        """In the place of an older one to the same request."""
        self._forget(answer.key)
        self._answers[answer.key] = answer
        self.size_bytes += _size(answer)
        self._trim()

    def resize(self, bytes_max: int) -> None:
        """Another bound from now on."""
        self._bytes_max = bytes_max
        self._trim()

    def clear(self) -> None:
        """Forget all."""
        self._answers.clear()
        self.size_bytes = 0

    def keys(self) -> tuple[bytes, ...]:
        """Of all that are kept now."""
        return tuple(self._answers)

    def sweep(self, keys: Iterable[bytes]) -> None:
        """Forget those of these that were dropped, which nobody may ask for again."""
        for key in keys:
            answer = self._answers.get(key)
            if answer is not None and self.drops.has_dropped(answer):
                self._forget(key)

    def _trim(self) -> None:
        while self.size_bytes > self._bytes_max:
            _, oldest = self._answers.popitem(last=False)
            self.size_bytes -= _size(oldest)

    def _forget(self, key: bytes) -> None:
        answer = self._answers.pop(key, None)
        if answer is not None:
            self.size_bytes -= _size(answer)


def _size(answer: CachedAnswer) -> int:
    return ENTRY_BYTES + len(answer.body)
