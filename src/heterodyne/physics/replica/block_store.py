"""Paged KV memory: blocks in use, and finished ones kept for sequences with the same prefix.

A block is private to one sequence until it is full and its hash is known; then it may be shared. Shared blocks that no
sequence uses stay until memory is needed, the longest unused go first. A hash may stand for several blocks in a row:
logs hash prompts in longer pieces than engines page memory in.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence


class BlockStore:
    """Counts private blocks, knows shared ones by hash."""

    __slots__ = ("_idle", "_users", "per_hash", "private", "removed", "total")

    def __init__(self, total: int, *, per_hash: int = 1) -> None:
        self.total = total
        self.per_hash = per_hash  # blocks behind one hash
        self.private = 0
        self.removed: list[int] = []  # hashes evicted since it was last read and cleared
        self._users: dict[int, int] = {}  # hash: sequences that hold it
        self._idle: OrderedDict[int, None] = OrderedDict()  # hashes no sequence holds, the longest unused first

    @property
    def used(self) -> int:
        """Blocks that sequences hold."""
        return self.private + len(self._users) * self.per_hash

    @property
    def available(self) -> int:
        """Blocks that could be taken now, idle shared ones among them."""
        return self.total - self.private - len(self._users) * self.per_hash

    @property
    def cached(self) -> int:
        """Shared blocks, held or idle."""
        return (len(self._users) + len(self._idle)) * self.per_hash

    def passes_within(self, most: int, decoding: int, growing: Sequence[int], done: int) -> int:
        """Of the `most` passes after so many, those with a block for every sequence that needs one; at least one.

        `growing` counts the sequences that need a block by the pass, modulo the tokens of a block.
        """
        size = len(growing)
        # In as many passes as a block has tokens, every sequence fills one block.
        cycles, available = divmod(self.available, decoding)
        passes = cycles * size
        while passes < most:
            available -= growing[(done + passes + 1) % size]
            if available < 0:
                break
            passes += 1
        return min(most, max(1, passes))

    def known(self, hashes: Sequence[int]) -> int:
        """How many of the first hashes are here."""
        users, idle = self._users, self._idle
        for count, block in enumerate(hashes):
            if block not in users and block not in idle:
                return count
        return len(hashes)

    def idle_among(self, hashes: Iterable[int]) -> int:
        """How many blocks of these no sequence holds: taking them makes so many fewer available."""
        idle = self._idle
        return sum([block in idle for block in hashes]) * self.per_hash if idle else 0

    def hold(self, hashes: Iterable[int]) -> None:
        """One more sequence uses these blocks, which are here."""
        users, idle = self._users, self._idle
        for block in hashes:
            held = users.get(block, 0)
            users[block] = held + 1
            if not held:
                idle.pop(block, None)

    def take(self, count: int) -> None:
        """So many more private blocks, evicting idle ones where memory is full; `available` must allow it."""
        self.private += count
        if not self._idle:
            return
        over = self.private + self.cached - self.total
        while over > 0:
            block, _ = self._idle.popitem(last=False)
            self.removed.append(block)
            over -= self.per_hash

    def share(self, hashes: Sequence[int]) -> set[int]:
        """A sequence's private blocks became these; returns the new ones. Of the others it gives its copy back."""
        self.private -= len(hashes) * self.per_hash
        fresh = {block for block in hashes if block not in self._users and block not in self._idle}
        self.hold(hashes)
        return fresh

    def release(self, hashes: Sequence[int], private: int) -> None:
        """A sequence leaves. Its last blocks become the longest unused: a prefix is worth more than what follows it."""
        self.private -= private
        for block in reversed(hashes):
            left = self._users[block] - 1
            if left:
                self._users[block] = left
            else:
                del self._users[block]
                self._idle[block] = None

    def clear(self) -> None:
        """Forget every idle block, as an engine does when its cache is reset."""
        self.removed.extend(self._idle)
        self._idle.clear()
