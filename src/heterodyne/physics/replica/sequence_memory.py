"""What one sequence holds of a replica's KV memory: found there, taken, made known to others, given back."""

from typing import final

from heterodyne.physics.replica.block_store import BlockStore
from heterodyne.physics.replica.job import Scheduling
from heterodyne.physics.replica.sequence import Sequence
from heterodyne.physics.replica.step import StoredBlocks


@final
class SequenceMemory:
    """Of all sequences of one replica."""

    __slots__ = ("_block_tokens", "_blocks", "_hash_tokens", "_per_hash", "_reuses_prefixes", "stored")

    def __init__(self, blocks: BlockStore, scheduling: Scheduling) -> None:
        self.stored: list[StoredBlocks] = []  # that others may share, since it was last read and cleared
        self._blocks = blocks
        self._block_tokens = scheduling.block_tokens
        self._hash_tokens = scheduling.hash_tokens
        self._per_hash = scheduling.blocks_per_hash
        self._reuses_prefixes = scheduling.reuses_prefixes

    def known(self, sequence: Sequence) -> int:
        """Hashes of its prompt that are in memory; the last token is always computed."""
        if not sequence.job.blocks or not self._reuses_prefixes:
            return 0
        return self._blocks.known(sequence.job.blocks[: (sequence.prefill_tokens - 1) // self._hash_tokens])

    def try_hold(self, sequence: Sequence, spare: int) -> bool:
        """Memory for its whole prompt and the token after it, where so many blocks are left besides."""
        known = self.known(sequence)
        shared = sequence.job.blocks[:known]
        fresh = sequence.prefill_tokens // self._block_tokens + 1 - known * self._per_hash
        if fresh + self._blocks.idle_among(shared) + spare > self._blocks.available:
            return False
        self._blocks.hold(shared)
        self._blocks.take(fresh)
        sequence.is_admitted = True
        sequence.shared = known
        sequence.done_tokens = known * self._hash_tokens
        return True

    def share(self, sequence: Sequence, tokens: int) -> None:
        """Make known the blocks that its first tokens fill, as far as their hashes are."""
        if not sequence.job.blocks or not self._reuses_prefixes:
            return
        first = sequence.shared
        hashes = sequence.job.blocks[first : tokens // self._hash_tokens]
        if not hashes:
            return
        fresh = self._blocks.share(hashes)
        sequence.shared += len(hashes)
        if fresh:
            indices = tuple(first + place for place, block in enumerate(hashes) if block in fresh)
            self.stored.append(StoredBlocks(job=sequence.job, indices=indices))

    def release(self, sequence: Sequence, now: int) -> None:
        """Give its memory back after this pass; shared blocks stay for others."""
        held = sequence.tokens_held(now) // self._block_tokens + 1
        private = held - sequence.shared * self._per_hash
        self._blocks.release(sequence.job.blocks[: sequence.shared], private)
        sequence.is_admitted = False
        sequence.shared = 0
