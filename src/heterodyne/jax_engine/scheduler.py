"""What the device does next: a chunk of a prompt or steps of every running slot. Pure; the engine's thread drives it.

Chunks and steps take turns, so that running answers go on while long prompts are read. The device may be told more
before what it said is known: `sampled` runs ahead of `written`, and what it wrote after an end is dropped.
"""

from collections import deque
from collections.abc import Iterator

from msgspec import Struct

from heterodyne.jax_engine.lengths import next_length
from heterodyne.jax_engine.sequence import JaxSequence
from heterodyne.jax_engine.slots import CacheSlot, choose_slot


class CopyWork(Struct, frozen=True, kw_only=True):
    """Put what one slot holds into another one too."""

    source: int
    slot: int


class ChunkWork(Struct, frozen=True, kw_only=True):
    """Read some tokens of one prompt into its slot."""

    sequence: JaxSequence
    slot: int
    start: int
    tokens: list[int]
    is_last: bool  # the first token of the answer comes back


class StepWork(Struct, frozen=True, kw_only=True):
    """Write some tokens more in every one of these slots."""

    sequences: dict[int, JaxSequence]  # by slot
    steps: int


class SchedulerCounters(Struct):
    """Totals since the engine started."""

    prompt_tokens: int = 0
    reused_tokens: int = 0
    written_tokens: int = 0


class SlotScheduler:
    """Of one engine."""

    def __init__(
        self, *, slots: int, context_tokens: int, chunk_tokens: int = 512, steps: int = 1, waiting_max: int = 1024
    ) -> None:
        self.slots = [CacheSlot(number) for number in range(slots)]
        self.context_tokens = context_tokens
        self.length = next_length(0, 1, context_tokens)
        self.counters = SchedulerCounters()
        self._chunk_tokens = chunk_tokens
        self._steps = steps
        self._waiting_max = waiting_max
        self._waiting: deque[JaxSequence] = deque()
        self._reading: deque[JaxSequence] = deque()  # in slots, with prompts that are not read to their end
        self._copies: deque[CopyWork] = deque()  # at most one for each slot; before all else, while sources hold it
        self._taken = 0
        self._was_chunk = False

    @property
    def running(self) -> int:
        """Sequences in slots."""
        return sum(slot.sequence is not None for slot in self.slots)

    @property
    def waiting(self) -> int:
        """Sequences without one."""
        return len(self._waiting)

    @property
    def kv_share(self) -> float:
        """How much of all places running sequences hold."""
        held = sum(one.places for one in self._running())
        return held / (len(self.slots) * self.context_tokens)

    def try_submit(self, sequence: JaxSequence) -> bool:
        """False: too many wait already."""
        if len(self._waiting) >= self._waiting_max:
            return False
        self._waiting.append(sequence)
        return True

    def next_work(self) -> CopyWork | ChunkWork | StepWork | None:
        """What to tell the device; None: nothing until an answer ends or a sequence comes."""
        if not self._copies:
            self._admit()
        if self._copies:
            return self._copies.popleft()
        turns = (self._step, self._chunk) if self._was_chunk else (self._chunk, self._step)
        work = turns[0]() or turns[1]()
        self._was_chunk = isinstance(work, ChunkWork)
        return work

    def wrote(self, sequence: JaxSequence, token: int) -> str | None:
        """The device said `token`; why the answer ends with it, if it does."""
        sequence.written.append(token)
        self.counters.written_tokens += 1
        if token in sequence.stop_ids:
            return "stop"
        has_room = len(sequence.prompt) + len(sequence.written) < self.context_tokens
        return None if has_room and len(sequence.written) < sequence.limit_tokens else "length"

    def finish(self, sequence: JaxSequence) -> None:
        """It has ended or is given up; what it read and wrote stays in its slot for whoever begins the same way."""
        if sequence.slot is None:
            if sequence in self._waiting:
                self._waiting.remove(sequence)
            return
        slot = self.slots[sequence.slot]
        slot.tokens = sequence.known_tokens()
        slot.sequence = sequence.slot = None
        if sequence in self._reading:
            self._reading.remove(sequence)

    def set_length(self, length: int) -> None:
        """The cache has become longer or shorter."""
        self.length = length
        for slot in self.slots:
            del slot.tokens[length:]

    def length_for(self, work: ChunkWork | StepWork) -> int:
        """What the cache must have for it."""
        if isinstance(work, ChunkWork):
            places = max([work.start + len(work.tokens), *(one.places for one in self._running())])
        else:
            places = max(one.places for one in self._running())
        return next_length(self.length, places, self.context_tokens)

    def _running(self) -> Iterator[JaxSequence]:
        return (slot.sequence for slot in self.slots if slot.sequence is not None)

    def _admit(self) -> None:
        while self._waiting:
            choice = choose_slot(self.slots, self._waiting[0].prompt, self._waiting[0].salt)
            if choice is None:
                return
            sequence, slot = self._waiting.popleft(), choice.slot
            self._taken += 1
            sequence.slot, slot.sequence, slot.used = slot.number, sequence, self._taken
            sequence.read = sequence.reused = choice.reused
            slot.tokens, slot.salt = [], sequence.salt
            if choice.source is not None:
                self._copies.append(CopyWork(source=choice.source.number, slot=slot.number))
            self.counters.prompt_tokens += len(sequence.prompt)
            self.counters.reused_tokens += choice.reused
            self._reading.append(sequence)

    def _chunk(self) -> ChunkWork | None:
        if not self._reading:
            return None
        sequence = self._reading[0]
        assert sequence.slot is not None
        start = sequence.read
        tokens = sequence.prompt[start : start + self._chunk_tokens]
        sequence.read += len(tokens)
        if sequence.is_read:
            self._reading.popleft()
            sequence.sampled = 1
        return ChunkWork(
            sequence=sequence,
            slot=sequence.slot,
            start=start,
            tokens=tokens,
            is_last=sequence.is_read,
        )

    def _step(self) -> StepWork | None:
        going = {
            slot.number: slot.sequence
            for slot in self.slots
            if slot.sequence is not None and slot.sequence.is_read and self._has_more(slot.sequence)
        }
        if not going:
            return None
        for sequence in going.values():
            sequence.sampled += self._steps
        return StepWork(sequences=going, steps=self._steps)

    def _has_more(self, sequence: JaxSequence) -> bool:
        return sequence.sampled < min(sequence.limit_tokens, self.context_tokens - len(sequence.prompt))
