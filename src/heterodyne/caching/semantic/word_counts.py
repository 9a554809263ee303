"""How often each word was in a prompt, so that a rare word that only one of two prompts has weighs more."""

import math
from array import array
from collections.abc import Iterable
from typing import Final
from zlib import crc32

BUCKETS: Final = 1 << 16
_FADE_AT: Final = 1 << 20  # prompts, after which all counts are halved, so that old words fade


class WordCounts:
    """Counts of hashed words; one per tenant, because how often a word is used tells about a tenant's prompts."""

    def __init__(self) -> None:
        self._counts = array("f", bytes(4 * BUCKETS))
        self._prompts = 0.0

    def add(self, words: Iterable[str]) -> None:
        """The words of one more prompt, each once."""
        self._prompts += 1
        for word in words:
            self._counts[crc32(word.encode()) % BUCKETS] += 1
        if self._prompts >= _FADE_AT:
            self._prompts /= 2
            self._counts = array("f", [count / 2 for count in self._counts])

    def rarity(self, word: str) -> float:
        """The logarithm of one in how many prompts has the word."""
        return math.log((self._prompts + 2) / (self._counts[crc32(word.encode()) % BUCKETS] + 1))
