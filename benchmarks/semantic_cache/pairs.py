"""Question pairs with labels, split so that no question of the held-out part was seen while rules were written."""

import json
import lzma
from pathlib import Path
from zlib import crc32

from msgspec import Struct

DEVELOPMENT_TENTHS = 3


class Pair(Struct, frozen=True):
    """A question whose answer is kept, one that comes later, and whether people called them the same."""

    cached: str
    prompt: str
    is_same: bool


def load(folder: Path) -> tuple[list[Pair], list[Pair]]:
    """For development, and held out. Questions that any chain of pairs joins are on one side."""
    with lzma.open(folder / "gptcache_qqp_full.jsonl.xz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    pairs = [Pair(row["text_a"], row["text_b"], bool(row["label"])) for row in rows]
    roots = _Roots()
    for pair in pairs:
        roots.join(pair.cached, pair.prompt)
    parts: tuple[list[Pair], list[Pair]] = ([], [])
    for pair in pairs:
        tenth = crc32(roots.of(pair.cached).encode()) % 10
        parts[tenth >= DEVELOPMENT_TENTHS].append(pair)
    return parts


class _Roots:
    """Which questions are joined."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def of(self, text: str) -> str:
        while (parent := self._parents.setdefault(text, text)) != text:
            self._parents[text] = self._parents[parent]
            text = parent
        return text

    def join(self, one: str, other: str) -> None:
        self._parents[self.of(one)] = self.of(other)
