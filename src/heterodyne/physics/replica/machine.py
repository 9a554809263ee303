"""The step machine: continuous batching with chunked prompts, paged KV with shared prefixes, and preemption.

Its driver begins a step, lets its time pass on a clock of its own, real or virtual, and finishes it:

    machine.submit(job, now_s)
    step = machine.begin(now_s)        # None: nothing to do before machine.ready_at_s
    ended = machine.finish()           # at step.ends_at_s

A step costs the same however many sequences decode in it: what they have in common is counted, not walked through.
That lets a simulator run whole days, and `leap_until_s` lets it take many equal steps at once. A leap may be begun
without knowing what comes: `cut` shortens it when something does.
"""

from collections import deque
from heapq import heappop, heappush
from math import inf

from msgspec import structs

from heterodyne.physics.replica.block_store import BlockStore
from heterodyne.physics.replica.job import Job, Scheduling
from heterodyne.physics.replica.sequence import Sequence
from heterodyne.physics.replica.sequence_memory import SequenceMemory
from heterodyne.physics.replica.step import Counters, EngineStep, StepResult
from heterodyne.physics.replica.step_clock import PromptChunk, StepClock


class ReplicaMachine:
    """One replica. Not a thread, not a task: it moves when it is given the time."""

    def __init__(self, clock: StepClock, scheduling: Scheduling) -> None:
        self.scheduling = scheduling
        self.counters = Counters()
        self.blocks = BlockStore(scheduling.blocks, per_hash=scheduling.blocks_per_hash)
        self._memory = SequenceMemory(self.blocks, scheduling)
        self._clock = clock
        self._hash_tokens = scheduling.hash_tokens
        self._all: dict[int, Sequence] = {}
        self._arriving: list[tuple[float, int, Sequence]] = []  # a heap, by the time the scheduler sees them
        self._waiting: deque[Sequence] = deque()
        self._expecting: dict[int, Sequence] = {}  # they have memory, and what comes from elsewhere is not there yet
        self._kept: dict[int, Sequence] = {}  # ended, with their KV still to be fetched
        self._prefilling: list[Sequence] = []
        self._decoding: dict[int, Sequence] = {}  # in the order they were admitted
        self._leaving: list[tuple[int, int, Sequence]] = []  # a heap of decoding ones, by the pass that ends them
        self._growing = [0] * scheduling.block_tokens  # decoding sequences by the pass, modulo, that fills a block
        self._context_tokens = 0  # of all decoding sequences
        self._pass = 0  # decode passes so far
        self._order = 0
        self.step: EngineStep | None = None  # under way
        self._chunks: list[tuple[Sequence, PromptChunk]] = []
        self._admitted: list[int] = []
        self._preempted: list[int] = []
        self._cached: list[int] = []  # of the jobs that finish

    # What goes in.

    def submit(self, job: Job, now_s: float) -> None:
        """A job arrives; one that could never fit is the caller's to refuse (`fits`)."""
        sequence = self._all[job.id] = self._new(job)
        self._see(sequence, self._memory.known(sequence) * self._hash_tokens, now_s)

    def try_reserve(self, job: Job) -> bool:
        """Memory for a job whose first tokens come from elsewhere, before they do; False: there is too little now."""
        sequence = self._new(job)
        if not self._memory.try_hold(sequence, self._growth(self._pass + 1)):
            return False
        self._all[job.id] = self._expecting[job.id] = sequence
        return True

    def arrive(self, job_id: int, tokens: int, now_s: float) -> bool:
        """So many of its first tokens are here, and the job is submitted; False: it has no memory reserved."""
        sequence = self._expecting.pop(job_id, None)
        if sequence is None:
            return False
        sequence.done_tokens = max(sequence.done_tokens, min(tokens, sequence.job.prompt_tokens - 1))
        self._memory.share(sequence, sequence.done_tokens)
        self._see(sequence, sequence.done_tokens, now_s)
        return True

    def release_kv(self, job_id: int) -> bool:
        """Nobody needs the KV of a prefill job any more; False: none is kept."""
        sequence = self._kept.pop(job_id, None)
        if sequence is not None:
            self._memory.release(sequence, self._pass)
        return sequence is not None

    def _new(self, job: Job) -> Sequence:
        assert self.fits(job), f"job {job.id} does not fit"
        assert job.id not in self._all, f"job {job.id} is already here"
        return Sequence(job)

    def fits(self, job: Job) -> bool:
        """Whether the job could run on an empty replica."""
        return (
            job.prompt_tokens > 0
            and job.output_tokens > 0
            and job.prompt_tokens + job.output_tokens <= self.scheduling.kv_tokens
        )

    def cancel(self, job_id: int) -> bool:
        """Forget a job; False when it is not here. Memory is free at once, a step under way still takes its time."""
        sequence = self._all.pop(job_id, None)
        if sequence is None:
            return False
        sequence.is_gone = True
        if sequence.leaves_at:
            self._leave(sequence)
        elif sequence.is_admitted:
            if sequence in self._prefilling:
                self._prefilling.remove(sequence)
            self._expecting.pop(job_id, None)
            self._memory.release(sequence, self._pass)
        return True

    # What the clock does.

    @property
    def ready_at_s(self) -> float:
        """When an idle machine has something to do next; infinite when nothing is on its way."""
        while self._arriving and self._arriving[0][2].is_gone:
            heappop(self._arriving)
        return self._arriving[0][0] if self._arriving else inf

    def begin(self, now_s: float, *, leap_until_s: float = -inf) -> EngineStep | None:
        """Plan the next step. With `leap_until_s`, as many decode passes as end before anything else can happen."""
        assert self.step is None, "the step before has not been finished"
        while self._arriving and self._arriving[0][0] <= now_s:
            sequence = heappop(self._arriving)[2]  # with memory it goes first: those in front may wait for just that
            (self._waiting.appendleft if sequence.is_admitted else self._waiting.append)(sequence)
        self._make_room()
        chunks = self._chunks = self._plan_chunks() if self._waiting or self._prefilling else []
        decoding = len(self._decoding) if self.scheduling.mixes_prompts or not chunks else 0
        if not decoding and not chunks:
            return None
        passes = self._passes(now_s, leap_until_s) if decoding and not chunks else 1
        duration_s = self._clock.passes_s(passes, len(self._decoding), self._context_tokens) if decoding else 0.0
        prompt_tokens = 0
        if chunks:
            pieces = [chunk for _, chunk in chunks]
            duration_s += self._clock.chunks_s(pieces)
            for piece in pieces:
                prompt_tokens += piece.end - piece.start
        self.step = EngineStep(
            begins_at_s=now_s,
            ends_at_s=now_s + duration_s,
            passes=passes,
            decoding=decoding,
            prompt_tokens=prompt_tokens,
            admitted=tuple(self._admitted),
        )
        self._admitted.clear()
        return self.step

    def cut(self, at_s: float) -> EngineStep | None:
        """End the leap under way with its first pass that ends at this time or later; the step as it is now.

        After a `submit`, `cut(ready_at_s)` gives what was to be had by knowing of the job before; `cancel` comes after.
        """
        step = self.step
        if step is None or step.passes == 1 or step.ends_at_s <= at_s:
            return step
        passes = self._clock.passes_within(
            at_s - step.begins_at_s, step.passes, len(self._decoding), self._context_tokens
        )
        if passes < step.passes:
            takes_s = self._clock.passes_s(passes, len(self._decoding), self._context_tokens)
            self.step = structs.replace(step, ends_at_s=step.begins_at_s + takes_s, passes=passes)
        return self.step

    def finish(self, *, names_decoded: bool = False) -> StepResult:
        """The step's time has passed."""
        step, self.step = self.step, None
        assert step is not None, "no step was begun"
        decoded = tuple(self._decoding) if names_decoded and step.decoding else ()
        self._cached = []
        finished = self._decode(step.passes) if step.decoding else []
        prompted = self._prefill(finished) if self._chunks else []
        self.counters.passes += step.passes
        self.counters.finished += len(finished)
        ended = StepResult(
            decoded=decoded,
            prompted=tuple(prompted),
            finished=tuple(finished),
            cached_tokens=tuple(self._cached),
            preempted=tuple(self._preempted),
            stored=tuple(self._memory.stored),
            removed=tuple(self.blocks.removed),
        )
        self._preempted.clear()
        self._memory.stored.clear()
        self.blocks.removed.clear()
        return ended

    # What it holds.

    @property
    def running(self) -> int:
        """Sequences in the batch."""
        return len(self._decoding) + len(self._prefilling)

    @property
    def waiting(self) -> int:
        """Jobs outside the batch."""
        return len(self._all) - self.running

    @property
    def kv_share(self) -> float:
        """The share of KV memory that sequences hold."""
        return self.blocks.used / self.scheduling.blocks

    # Planning a step.

    def _make_room(self) -> None:
        """Blocks for the next pass: the last admitted lose theirs, and wait in front, until there are enough."""
        while self._growth(self._pass + 1) > self.blocks.available:
            victim = next(reversed(self._decoding.values()))
            self._leave(victim)
            victim.restart(self._pass)
            self._waiting.appendleft(victim)
            self._preempted.append(victim.job.id)
            self.counters.preemptions += 1

    def _growth(self, number: int) -> int:
        """Sequences that need a new block in this pass."""
        return self._growing[number % self.scheduling.block_tokens]

    def _plan_chunks(self) -> list[tuple[Sequence, PromptChunk]]:
        """Prompts under way first, then those that wait, within the tokens of one step."""
        budget = self.scheduling.step_tokens
        if self.scheduling.mixes_prompts:
            budget -= len(self._decoding)
        planned: list[tuple[Sequence, PromptChunk]] = []
        under_way = iter(tuple(self._prefilling))
        while budget > 0 and (sequence := next(under_way, None) or self._admit()) is not None:
            end = min(sequence.prefill_tokens, sequence.done_tokens + budget)
            planned.append((sequence, PromptChunk(sequence.done_tokens, end)))
            budget -= end - sequence.done_tokens
            # A block is written before anything reads it, so sequences admitted after this one may share it already.
            self._memory.share(sequence, end)
        return planned

    def _admit(self) -> Sequence | None:
        """The next in line, with memory for its whole prompt and the token after it; none overtakes."""
        while self._waiting and self._waiting[0].is_gone:
            self._waiting.popleft()
        if not self._waiting or self.running >= self.scheduling.slots:
            return None
        sequence = self._waiting[0]
        if not sequence.is_admitted and not self._memory.try_hold(sequence, self._growth(self._pass + 1)):
            return None
        self._waiting.popleft()
        self._admitted.append(sequence.job.id)
        if sequence.cached_tokens < 0:
            sequence.cached_tokens = sequence.done_tokens
        self._prefilling.append(sequence)
        self.counters.prompt_tokens += sequence.prefill_tokens
        self.counters.cached_tokens += sequence.done_tokens
        return sequence

    def _passes(self, now_s: float, leap_until_s: float) -> int:
        """How many decode passes run before a sequence ends, a block runs out, or the time comes; at least one."""
        until_s = min(leap_until_s, self.ready_at_s)
        if until_s <= now_s:
            return 1
        while self._leaving[0][2].leaves_at != self._leaving[0][0]:
            heappop(self._leaving)
        most = self._leaving[0][0] - self._pass
        if most > 1:
            most = self.blocks.passes_within(most, len(self._decoding), self._growing, self._pass)
        if until_s == inf:
            return most
        return self._clock.passes_within(until_s - now_s, most, len(self._decoding), self._context_tokens)

    # Carrying it out.

    def _decode(self, passes: int) -> list[int]:
        """Every sequence of the batch gets its tokens; those that are complete leave."""
        decoding, size = len(self._decoding), self.scheduling.block_tokens
        cycles, rest = divmod(passes, size)
        begin = (self._pass + 1) % size
        growth = sum(self._growing[begin : begin + rest]) + sum(self._growing[: max(0, begin + rest - size)])
        self.blocks.take(cycles * decoding + growth)
        self._pass += passes
        self._context_tokens += passes * decoding
        self.counters.output_tokens += passes * decoding
        finished: list[int] = []
        while self._leaving and self._leaving[0][0] <= self._pass:
            leaves_at, _, sequence = heappop(self._leaving)
            if sequence.leaves_at == leaves_at:
                self._leave(sequence)
                self._complete(sequence, finished)
        return finished

    def _prefill(self, finished: list[int]) -> list[int]:
        """Chunks are computed; whose prompt is complete has a token from it, and with it perhaps its whole answer."""
        prompted = []
        for sequence, chunk in self._chunks:
            if sequence.is_gone:
                continue
            sequence.done_tokens = chunk.end
            if chunk.end < sequence.prefill_tokens:
                continue
            self._prefilling.remove(sequence)
            prompted.append(sequence.job.id)
            sequence.written_tokens += 1
            if sequence.written_tokens < sequence.job.output_tokens:
                self._join(sequence)
            else:
                self._complete(sequence, finished)
                if sequence.job.keeps_kv:
                    self._kept[sequence.job.id] = sequence
                else:
                    self._memory.release(sequence, self._pass)
        self._chunks = []
        self.counters.output_tokens += len(prompted)
        return prompted

    def _complete(self, sequence: Sequence, finished: list[int]) -> None:
        del self._all[sequence.job.id]
        finished.append(sequence.job.id)
        self._cached.append(sequence.cached_tokens)

    def _join(self, sequence: Sequence) -> None:
        sequence.join(self._pass)
        self._decoding[sequence.job.id] = sequence
        self._growing[self._residue(sequence)] += 1
        self._context_tokens += sequence.prefill_tokens
        self._order += 1
        heappush(self._leaving, (sequence.leaves_at, self._order, sequence))

    def _leave(self, sequence: Sequence) -> None:
        """Out of the decoding batch, and out of memory."""
        held_tokens = sequence.tokens_held(self._pass)
        del self._decoding[sequence.job.id]
        self._growing[self._residue(sequence)] -= 1
        self._context_tokens -= held_tokens
        self._memory.share(sequence, held_tokens)
        self._memory.release(sequence, self._pass)
        sequence.leaves_at = 0

    def _residue(self, sequence: Sequence) -> int:
        """The pass, modulo the block size, in which its tokens fill a block and it needs another."""
        return (sequence.joined_at - sequence.prefill_tokens) % self.scheduling.block_tokens

    def _see(self, sequence: Sequence, cached_tokens: int, now_s: float) -> None:
        """The scheduler will, when server and tokenizer are done with it."""
        self._order += 1
        ready_at_s = now_s + self._clock.ahead_s(sequence.job.prompt_tokens, cached_tokens)
        heappush(self._arriving, (ready_at_s, self._order, sequence))
