"""Which prompt is in which slot of one replica, as this worker has put it there. It waits for nothing.

The engine is told a slot with every request, because what it chooses by itself it does not say. A request that cannot
be given a slot leaves the engine free to take any: from then on nothing is known of any.
"""

from collections.abc import Callable, Sequence
from typing import Final, final

Hashes = Sequence[int]  # of a prompt, block by block, each depending on all before it and on the tenant
NOTHING: Final[Hashes] = ()


@final
class HeldSlot:
    """A slot that holds the beginning of a prompt."""

    __slots__ = ("hashes", "slot")

    def __init__(self, slot: int, hashes: Hashes) -> None:
        self.slot: Final = slot
        self.hashes: Final = hashes  # of the prompt it was last asked


class SlotBook:
    """One per replica. A slot that is taken is released once."""

    __slots__ = ("_busy", "_held", "_order", "_unsaved", "_untracked")

    def __init__(self, slots: int) -> None:
        self._held: list[Hashes] = [NOTHING] * slots
        self._order = list(range(slots))  # the slot used longest ago first
        self._busy: set[int] = set()
        self._unsaved: dict[int, bytes] = {}  # slots whose prompt was answered, with its tenant, until one takes it
        self._untracked = 0  # requests on slots of the engine's own choice

    @property
    def slots(self) -> int:
        """All that it has."""
        return len(self._held)

    @property
    def busy(self) -> int:
        """Slots that are taken."""
        return len(self._busy)

    def try_take(self, hashes: Hashes) -> int | None:
        """The idle slot that holds most of the prompt, else an empty one, else the one used longest ago."""
        idle = [slot for slot in self._order if slot not in self._busy]
        if not idle or self._untracked:
            return None
        best = max(idle, key=lambda slot: (common(self._held[slot], hashes), not self._held[slot]))
        self._busy.add(best)
        self._touch(best)
        return best

    def hold(self, slot: int, hashes: Hashes, tenant: bytes | None = None) -> None:
        """A slot that is taken holds this from now on: with a tenant, a prompt that was answered and may go on."""
        self._held[slot] = hashes
        if tenant is None:
            self._unsaved.pop(slot, None)
        else:
            self._unsaved[slot] = tenant

    def release(self, slot: int) -> None:
        """Nobody works in it any more."""
        self._busy.discard(slot)

    def begin_untracked(self) -> None:
        """A request is sent without a slot."""
        self._untracked += 1
        self.forget()

    def end_untracked(self) -> None:
        self._untracked -= 1

    def try_find(self, hashes: Hashes) -> HeldSlot | None:
        """The idle slot that holds most of a prompt's beginning; it is taken, so that nobody writes over it."""
        if self._untracked:
            return None
        idle = (slot for slot in self._order if slot not in self._busy)
        best = max(idle, key=lambda slot: common(self._held[slot], hashes), default=None)
        if best is None or not common(self._held[best], hashes):
            return None
        self._busy.add(best)
        self._touch(best)
        return HeldSlot(best, self._held[best])

    def holds(self, hashes: Hashes) -> bool:
        """Whether a slot holds all of this."""
        return not self._untracked and any(common(held, hashes) == len(hashes) for held in self._held)

    def try_take_spare(self, may_lose: Callable[[Hashes], bool]) -> int | None:
        """An empty slot, else the one used longest ago of those that may lose what they hold, if none has anything to
        do."""
        if self._busy or self._untracked:
            return None
        spare = [slot for slot in self._order if not self._held[slot]]
        spare += [slot for slot in self._order if self._held[slot] and may_lose(self._held[slot])]
        if not spare:
            return None
        self._busy.add(spare[0])
        return spare[0]

    def try_take_still(self, held: HeldSlot) -> bool:
        """Take the slot if it still holds just this, and no slot has anything to do."""
        if self._busy or self._untracked or self._held[held.slot] is not held.hashes:
            return False
        self._busy.add(held.slot)
        return True

    def try_take_unsaved(self, blocks_min: int) -> tuple[HeldSlot, bytes] | None:
        """An idle slot with a prompt of so many blocks that was answered, and its tenant: each once."""
        slot = self._unsaved_slot(blocks_min)
        if slot is None:
            return None
        self._busy.add(slot)
        return HeldSlot(slot, self._held[slot]), self._unsaved.pop(slot)

    def has_unsaved(self, blocks_min: int) -> bool:
        """Whether there is such a slot."""
        return self._unsaved_slot(blocks_min) is not None

    def give_up_unsaved(self) -> None:
        """None of them is to be saved."""
        self._unsaved.clear()

    def forget(self) -> None:
        """Nothing is known of what slots hold."""
        self._held = [NOTHING] * len(self._held)
        self._unsaved.clear()

    def _unsaved_slot(self, blocks_min: int) -> int | None:
        idle = (slot for slot in self._unsaved if slot not in self._busy and len(self._held[slot]) >= blocks_min)
        return next(idle, None)

    def _touch(self, slot: int) -> None:
        self._order.remove(slot)
        self._order.append(slot)


def common(held: Hashes, wanted: Hashes) -> int:
    """Blocks that two prompts begin with."""
    found = 0
    for one, other in zip(held, wanted, strict=False):
        if one != other:
            break
        found += 1
    return found
