"""The thread that drives the device: it tells it the next work before it knows what the last one said."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from heterodyne.jax_engine.cache import new_cache, with_length
from heterodyne.jax_engine.lengths import chunk_length
from heterodyne.jax_engine.programs import DecoderPrograms, TokenChunk, new_state, one_slots_rules
from heterodyne.jax_engine.scheduler import ChunkWork, CopyWork, SlotScheduler, StepWork
from heterodyne.jax_engine.sequence import JaxSequence, SamplingWishes
from heterodyne.telemetry import log

AHEAD_MAX = 2  # calls that the device has before the oldest is waited for: one runs, one is ready
TOP_MAX = 20  # likely tokens that can be told; one program has them all, another none
IDLE_WAIT_S = 1.0
LEAVE_S = 30.0
Likely = list[tuple[int, float]]  # tokens and their log-probabilities, the likeliest first
_log = log.get("jax_engine")


class SaidToken(Struct, frozen=True):
    """One token of an answer."""

    token: int
    log_probability: float
    top: Likely  # empty where none were asked for


class Saying(Struct, frozen=True):
    """What is new of one sequence; `reason` when it has ended."""

    sequence: JaxSequence
    tokens: list[SaidToken]
    reason: str | None


class _Sent(Struct, frozen=True):
    """A call whose answer is under way."""

    sequences: dict[int, JaxSequence]  # by row of the arrays that come back
    out: Any


class JaxEngine:
    """One model on one device. `tell` is called in the thread with all that one call of the device said."""

    def __init__(
        self,
        programs: DecoderPrograms,
        scheduler: SlotScheduler,
        *,
        chunk_tokens: int,
        tell: Callable[[list[Saying]], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        self.scheduler = scheduler
        self._programs = programs
        slots, kind = len(scheduler.slots), programs.weights["embedding"].dtype
        self._cache = new_cache(programs.shape, slots, scheduler.length, kind)
        self._state = new_state(programs.shape, slots)
        self._chunk_tokens = chunk_tokens
        self._tell = tell
        self._fail = fail
        self._sent: deque[_Sent] = deque()
        self._orders: deque[Callable[[], None]] = deque()
        self._wake = threading.Condition()
        self._leaves = False
        self._thread = threading.Thread(target=self._run, name="jax-engine", daemon=True)

    def start(self) -> None:
        """From now on sequences are served."""
        self._thread.start()

    def close(self) -> None:
        """The thread ends after the call it waits for."""
        with self._wake:
            self._leaves = True
            self._wake.notify()
        self._thread.join(LEAVE_S)

    def submit(self, sequence: JaxSequence) -> None:
        """From any thread."""
        self._order(lambda: self._take(sequence))

    def cancel(self, sequence: JaxSequence) -> None:
        """From any thread; nothing more is told of it."""
        self._order(lambda: self._drop(sequence))

    def _order(self, order: Callable[[], None]) -> None:
        with self._wake:
            self._orders.append(order)
            self._wake.notify()

    def _run(self) -> None:
        try:
            while not self._leaves:
                self._turn()
        except Exception as error:  # noqa: BLE001 - the root of the thread: the server answers with it
            _log.error("jax_engine_failed", error=str(error))
            self._fail(error)

    def _turn(self) -> None:
        self._take_orders()
        work = self.scheduler.next_work()
        if isinstance(work, CopyWork):
            self._cache = self._programs.copy(self._cache, work.source, work.slot)
        elif work is not None:
            self._send(work)
        elif not self._sent:
            with self._wake:
                self._wake.wait_for(lambda: self._orders or self._leaves, IDLE_WAIT_S)
        if len(self._sent) >= AHEAD_MAX or (work is None and self._sent):
            self._hear(self._sent.popleft())

    def _take_orders(self) -> None:
        while self._orders:
            self._orders.popleft()()

    def _take(self, sequence: JaxSequence) -> None:
        if not self.scheduler.try_submit(sequence):
            self._tell([Saying(sequence, [], "full")])

    def _drop(self, sequence: JaxSequence) -> None:
        self.scheduler.finish(sequence)

    def _send(self, work: ChunkWork | StepWork) -> None:
        length = self.scheduler.length_for(work)
        if length != self.scheduler.length:
            self._cache = with_length(self._cache, length)
            self.scheduler.set_length(length)
        if isinstance(work, ChunkWork):
            self._send_chunk(work)
        else:
            self._send_steps(work)

    def _send_chunk(self, work: ChunkWork) -> None:
        wishes, count = work.sequence.wishes, len(work.tokens)
        filled = np.zeros(chunk_length(count, self._chunk_tokens), np.int32)
        filled[:count] = work.tokens
        where = np.array([work.slot, work.start, count], np.int32)
        rules = one_slots_rules(
            wishes.temperature, wishes.top_p, wishes.top_k or self._programs.shape.vocabulary, wishes.min_p, wishes.seed
        )
        self._cache, self._state, out = self._programs.chunk(
            self._cache,
            self._state,
            TokenChunk(filled, where, rules),
            is_last=work.is_last,
            draws=work.is_last and wishes.temperature > 0,
            top=TOP_MAX if work.is_last and wishes.top_logprobs else 0,
        )
        self._expect({0: work.sequence} if work.is_last else {}, out)

    def _send_steps(self, work: StepWork) -> None:
        live = np.zeros(len(self.scheduler.slots), bool)
        live[list(work.sequences)] = True
        wishes = [sequence.wishes for sequence in work.sequences.values()]
        self._cache, self._state, out = self._programs.steps(
            self._cache,
            self._state,
            live,
            steps=work.steps,
            draws=any(one.temperature > 0 for one in wishes),
            top=TOP_MAX if any(one.top_logprobs for one in wishes) else 0,
        )
        self._expect(work.sequences, out)

    def _expect(self, sequences: dict[int, JaxSequence], out: Any) -> None:
        for array in (out.tokens, out.log_probabilities):
            array.copy_to_host_async()
        self._sent.append(_Sent(sequences, out))

    def _hear(self, sent: _Sent) -> None:
        """Wait for the oldest call and pass on what it said to those that have not ended since."""
        rows = len(sent.out.tokens.shape)
        tokens, said = np.asarray(sent.out.tokens), np.asarray(sent.out.log_probabilities)
        top = None if sent.out.top is None else tuple(np.asarray(one) for one in sent.out.top)
        if rows == 1:  # a chunk's one row
            tokens, said = tokens[None], said[None]
            top = None if top is None else tuple(one[None] for one in top)
        sayings = []
        for row, sequence in sent.sequences.items():
            saying = self._saying(sequence, tokens[:, row], said[:, row], _top_rows(top, row, sequence.wishes))
            if saying is not None:
                sayings.append(saying)
        if sayings:
            self._tell(sayings)

    def _saying(
        self, sequence: JaxSequence, tokens: Any, said: Any, top: list[list[tuple[int, float]]]
    ) -> Saying | None:
        if sequence.slot is None:  # it has ended, and this is what the device wrote beyond the end
            return None
        new, reason = [], None
        for step, token in enumerate(tokens.tolist()):
            reason = self.scheduler.wrote(sequence, token)
            new.append(SaidToken(token, float(said[step]), top[step] if top else []))
            if reason is not None:
                self.scheduler.finish(sequence)
                break
        return Saying(sequence, new, reason)


def _top_rows(top: Any, row: int, wishes: SamplingWishes) -> list[Likely]:
    if top is None or not wishes.top_logprobs:
        return []
    ids, values = top
    count = wishes.top_logprobs
    return [
        list(zip(one.tolist(), said.tolist(), strict=True))
        for one, said in zip(ids[:, row, :count], values[:, row, :count], strict=True)
    ]
