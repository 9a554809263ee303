"""What the slots of the cache hold, and which of them serves a prompt best."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from heterodyne.jax_engine.sequence import JaxSequence

COPY_TOKENS_MIN = 32  # fewer are read again as fast as they are copied


class CacheSlot:
    """One row of the cache."""

    __slots__ = ("number", "salt", "sequence", "tokens", "used")

    def __init__(self, number: int) -> None:
        self.number = number
        self.sequence: JaxSequence | None = None
        self.tokens: list[int] = []  # of an idle slot, what it holds keys and values of
        self.salt = ""  # of the sequence that it has or had
        self.used = 0  # when it was last taken, counted in sequences

    def held(self) -> Sequence[int]:
        """Tokens whose keys and values the device has or will have before what it is told next."""
        return self.tokens if self.sequence is None else self.sequence.known_tokens()


class SlotChoice(Struct, frozen=True):
    """Where a prompt goes and how many of its first tokens need not be read."""

    slot: CacheSlot
    reused: int
    source: CacheSlot | None  # whose row is copied first; None: the slot holds them itself


def choose_slot(slots: Iterable[CacheSlot], prompt: Sequence[int], salt: str = "") -> SlotChoice | None:
    """The idle slot that begins as the prompt does, or the one idle for longest; None where all are taken.

    The last token of a prompt is always read, for the first of the answer follows from it.
    """
    slots = list(slots)
    idle = [slot for slot in slots if slot.sequence is None]
    if not idle:
        return None
    most = len(prompt) - 1
    shared = {slot.number: min(most, shared_tokens(slot.held(), prompt)) if slot.salt == salt else 0 for slot in slots}
    own = max(idle, key=lambda slot: (shared[slot.number], -slot.used))
    best = max(slots, key=lambda slot: shared[slot.number])
    if shared[best.number] >= shared[own.number] + COPY_TOKENS_MIN:
        # Its own row is lost to the copy, so the one that is least wanted.
        target = min(idle, key=lambda slot: slot.used)
        return SlotChoice(target, shared[best.number], best)
    if shared[own.number] < COPY_TOKENS_MIN:
        # A few common tokens are no reason to overwrite what somebody may come back to.
        own = min(idle, key=lambda slot: slot.used)
    return SlotChoice(own, shared[own.number], None)


def shared_tokens(one: Sequence[int], other: Sequence[int]) -> int:
    """How many they begin with in common; by halving, for slices are compared fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
