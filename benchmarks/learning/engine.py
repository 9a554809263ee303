"""An engine whose steps cost what they are told to: continuous batching, step by step, in its own time."""

from collections import deque
from random import Random

from msgspec import Struct

STALLS = 0.0005  # of steps: one answer of a hundred tokens in twenty has one
STALLED = 20.0  # times as long
SCATTER = 0.05


class Costs(Struct, frozen=True, kw_only=True):
    """Seconds of what a request passes and of a step."""

    ahead_s: float  # before the scheduler sees a request
    step_s: float
    sequence_s: float
    context_token_s: float
    prompt_token_s: float
    slots: int
    step_tokens: int = 8192


class Sequence:
    """One that waits, is read, or decodes."""

    __slots__ = ("arrived_s", "context", "is_first", "left", "name", "unread")

    def __init__(self, name: int, arrived_s: float, prompt_tokens: int, output_tokens: int) -> None:
        self.name = name
        self.arrived_s = arrived_s  # at the scheduler
        self.context = prompt_tokens
        self.unread = prompt_tokens
        self.left = output_tokens
        self.is_first = True


class Engine:
    """First come, first served; a step reads prompts and decodes at once."""

    def __init__(self, costs: Costs, random: Random) -> None:
        self.costs = costs  # may be another from one step to the next
        self._random = random
        self._waiting: deque[Sequence] = deque()
        self._running: list[Sequence] = []

    @property
    def gauges(self) -> tuple[int, int]:
        """Requests that run, and that wait."""
        return len(self._running), len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Whether nobody asks anything."""
        return not self._running and not self._waiting

    def submit(self, one: Sequence) -> None:
        """It waits until there is a slot."""
        self._waiting.append(one)

    def step(self) -> tuple[float, list[int], list[int]]:
        """How long it took, whose first token came, and who is done."""
        costs, running = self.costs, self._running
        while self._waiting and len(running) < costs.slots:
            running.append(self._waiting.popleft())
        budget, decoding, context = costs.step_tokens, 0, 0
        for one in running:
            if not one.unread:
                decoding += 1
                context += one.context
            elif budget:
                chunk = min(budget, one.unread)
                budget -= chunk
                one.unread -= chunk
        took_s = costs.step_s + costs.sequence_s * decoding + costs.context_token_s * context
        took_s += costs.prompt_token_s * (costs.step_tokens - budget)
        took_s *= self._random.lognormvariate(0.0, SCATTER)
        if self._random.random() < STALLS:
            took_s *= STALLED
        began, ended = [], []
        for one in running:
            if one.unread:
                continue
            one.context += 1
            one.left -= 1
            if one.is_first:
                one.is_first = False
                began.append(one.name)
            if not one.left:
                ended.append(one.name)
        self._running = [one for one in running if one.left]
        return took_s, began, ended
