"""A batch in virtual time: lines that may wait, asked as the gateway asks them (`batches/pace`)."""

from collections import Counter, defaultdict
from math import inf
from typing import Final

from msgspec import Struct

from heterodyne.batches.pace import PAUSE_S, WAITING_MAX, LineOrder
from heterodyne.batches.planning import PIECE_LINES
from heterodyne.domain.errors import InvalidSpec
from heterodyne.routing.kv.chain import chain_of_blocks
from heterodyne.simulator.workload import NO_SALT, SimulatedRequest

FIRST_NUMBER: Final = 1 << 40  # of lines, and of blocks of their prompts: no trace has as many


class SimulatedBatch(Struct, frozen=True, kw_only=True):
    """So many lines in so many groups; all of a group begin with the same tokens."""

    lines: int
    groups: int
    shared_tokens: int
    own_tokens: int
    output_tokens: int
    at_s: float = 0.0  # when it comes
    until_s: float = inf  # from then on nothing more of it is asked

    def __post_init__(self) -> None:
        if not 0 < self.groups <= self.lines:
            raise InvalidSpec(f"batch: {self.lines} lines in {self.groups} groups; give 1 group at least, none empty")


class BatchTally:
    """What became of the lines."""

    __slots__ = ("cached_tokens", "ended_at_s", "inside_s", "pools")

    def __init__(self) -> None:
        self.ended_at_s: list[float] = []
        self.cached_tokens = 0
        self.pools: Counter[str] = Counter()
        self.inside_s: dict[str, float] = defaultdict(float)  # by pool, of all its lines together

    def lines_per_s(self, from_s: float, to_s: float) -> float:
        """Answered between two times."""
        return sum(from_s <= one < to_s for one in self.ended_at_s) / (to_s - from_s)


class SimulatedLines:
    """Which line is asked next."""

    def __init__(self, batch: SimulatedBatch, hash_tokens: int) -> None:
        self.batch = batch
        self.tally = BatchTally()
        self.waiting = 0  # in the fair queue
        self._hash_tokens = hash_tokens
        self._pause_until_s = 0.0
        self._taken = 0  # of all lines
        self._order: LineOrder[int] = LineOrder()
        self._started_at_s: dict[int, float] = {}

    def try_next(self, now_s: float) -> SimulatedRequest | None:
        """None: no line may be asked now."""
        begin_s = max(self.batch.at_s, self._pause_until_s)
        if not begin_s <= now_s < self.batch.until_s or self.waiting >= WAITING_MAX:
            return None
        while self._order.is_low and self._taken < self.batch.lines:
            self._take()
        return self._request(self._order.take(), now_s) if self._order else None

    def start(self, request: SimulatedRequest, now_s: float) -> None:
        """A line has its replica."""
        self.waiting -= 1
        self._started_at_s[request.number] = now_s

    def again(self, request: SimulatedRequest, now_s: float) -> None:
        """A line was refused; all of them pause for a moment."""
        self.waiting -= 1
        self._order.again(request.number - FIRST_NUMBER)
        self._pause_until_s = now_s + PAUSE_S

    def end(self, request: SimulatedRequest, pool: str, cached_tokens: int, now_s: float) -> None:
        """A line is answered."""
        self.tally.ended_at_s.append(now_s)
        self.tally.cached_tokens += cached_tokens
        self.tally.pools[pool] += 1
        self.tally.inside_s[pool] += now_s - self._started_at_s.pop(request.number)
        self._order.end(request.number - FIRST_NUMBER)

    def _group(self, line: int) -> int:
        return line * self.batch.groups // self.batch.lines

    def _take(self) -> None:
        """The next piece of the file, sorted by how lines begin."""
        end = min(self._taken + PIECE_LINES, self.batch.lines)
        self._order.add((line, self._group(line) == self._group(line - 1)) for line in range(self._taken, end))
        self._taken = end

    def _request(self, line: int, now_s: float) -> SimulatedRequest:
        batch, size = self.batch, self._hash_tokens
        tokens = batch.shared_tokens + batch.own_tokens
        shared, blocks = batch.shared_tokens // size, tokens // size
        begin = FIRST_NUMBER + self._group(line) * blocks
        own = FIRST_NUMBER * 2 + line * blocks
        numbers = (*range(begin, begin + shared), *range(own, own + blocks - shared))
        return SimulatedRequest(
            number=FIRST_NUMBER + line,
            at_s=now_s,
            prompt_tokens=tokens,
            output_tokens=batch.output_tokens,
            numbers=numbers,
            chain=chain_of_blocks(NO_SALT, numbers, size),
            session="",
        )


def is_line(request: SimulatedRequest) -> bool:
    """Whether it is of a batch."""
    return request.number >= FIRST_NUMBER
