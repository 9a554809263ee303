"""The prompts whose answers are kept, fence by fence: what is near, what has ended, and what makes room."""

from collections import OrderedDict
from collections.abc import Callable, Iterable

from msgspec import Struct

from heterodyne.caching.semantic.index import NearestIndex, Vector
from heterodyne.caching.semantic.reading import PromptReading


class SemanticEntry(Struct, frozen=True, kw_only=True):
    """A prompt whose answer is kept elsewhere, under `answer_key`."""

    answer_key: bytes
    reading: PromptReading
    model_version: str
    expires_at_s: float
    tags: frozenset[str] = frozenset()


class SemanticCandidate(Struct, frozen=True):
    """The entry nearest to a prompt."""

    fence: bytes
    entry_id: int
    entry: SemanticEntry
    cosine: float


class _Fence:
    def __init__(self, index: NearestIndex) -> None:
        self.index = index
        self.entries: dict[int, SemanticEntry] = {}
        self.answer_keys: set[bytes] = set()


class SemanticEntries:
    """All fences of a cache. What was used longest ago makes room, in whatever fence it is."""

    def __init__(self, *, entries_max: int, make_index: Callable[[], NearestIndex]) -> None:
        self._entries_max = entries_max
        self._make_index = make_index
        self._fences: dict[bytes, _Fence] = {}
        self._used: OrderedDict[int, bytes] = OrderedDict()  # entry to its fence, the longest unused first
        self._next_id = 0

    def __len__(self) -> int:
        return len(self._used)

    @property
    def fences(self) -> int:
        """How many fences hold something."""
        return len(self._fences)

    def add(self, fence: bytes, vector: Vector, entry: SemanticEntry) -> int:
        """Keeps a prompt; its number."""
        while len(self._used) >= self._entries_max:
            self.remove(next(iter(self._used)))
        held = self._fences.get(fence)
        if held is None:
            held = self._fences[fence] = _Fence(self._make_index())
        entry_id = self._next_id
        self._next_id += 1
        held.index.add(entry_id, vector)
        held.entries[entry_id] = entry
        held.answer_keys.add(entry.answer_key)
        self._used[entry_id] = fence
        return entry_id

    def has(self, fence: bytes, answer_key: bytes) -> bool:
        """Whether the prompt of an answer is here already."""
        held = self._fences.get(fence)
        return held is not None and answer_key in held.answer_keys

    def nearest(self, fence: bytes, vector: Vector, *, model_version: str, now_s: float) -> SemanticCandidate | None:
        """The nearest entry of a fence that still holds; those found to have ended are removed on the way."""
        while (held := self._fences.get(fence)) is not None:
            found = held.index.nearest(vector, 1)
            if not found:
                return None
            entry = held.entries[found[0].entry_id]
            if now_s < entry.expires_at_s and entry.model_version == model_version:
                self._used.move_to_end(found[0].entry_id)
                return SemanticCandidate(fence, found[0].entry_id, entry, found[0].cosine)
            self.remove(found[0].entry_id)
        return None

    def remove(self, entry_id: int) -> None:
        """Forgets an entry, and its fence with the last one."""
        fence = self._used.pop(entry_id)
        held = self._fences[fence]
        held.answer_keys.discard(held.entries.pop(entry_id).answer_key)
        held.index.remove(entry_id)
        if not held.entries:
            del self._fences[fence]

    def remove_tag(self, tag: str) -> int:
        """Forgets what has a tag; how many those were."""
        return self._remove(
            [number for held in self._fences.values() for number, entry in held.entries.items() if tag in entry.tags]
        )

    def remove_ended(self, now_s: float) -> int:
        """Forgets what has ended; how many those were."""
        return self._remove(
            [
                number
                for held in self._fences.values()
                for number, entry in held.entries.items()
                if now_s >= entry.expires_at_s
            ]
        )

    def remove_version(self, model_version: str) -> int:
        """Forgets what a version of a model answered; how many those were."""
        return self._remove(
            [
                number
                for held in self._fences.values()
                for number, entry in held.entries.items()
                if entry.model_version == model_version
            ]
        )

    def _remove(self, numbers: Iterable[int]) -> int:
        count = 0
        for number in numbers:
            self.remove(number)
            count += 1
        return count
