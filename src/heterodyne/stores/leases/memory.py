"""Counters of limits in this process: of a gateway's only worker, or in the supervisor for all workers of a machine."""

import time
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from heterodyne.ports.leases import NO_WINDOW, Grant, LeaseAnswer, LeaseCall, LeaseReport, LimitCounter, Want

HOLDER_TTL_S = 5.0  # a holder not heard of for so long no longer runs anything
GRACE_S = 120.0  # how long a window is kept after its end, for requests that settle late
LONG_WINDOW_S = 3600  # shorter ones are not worth saving
PRUNE_S = 10.0
HOLDERS_MAX = 10_000  # last answers kept; the holder that called longest ago is forgotten first
EPOCH = "memory"


class SavedCounter(Struct, frozen=True, kw_only=True):
    """One counter of a long window, to be restored after a restart."""

    counter: str
    window: int
    ends_s: float
    used: int


class MemoryLeases:
    """`LeaseKeeper` that never fails; exact among those who share this object."""

    def __init__(
        self, *, clock: Callable[[], float] = time.time, holder_ttl_s: float = HOLDER_TTL_S, grace_s: float = GRACE_S
    ) -> None:
        """`clock` is the wall clock; setting it back makes a holder live longer by no more than its time."""
        self._clock = clock
        self._holder_ttl_s = holder_ttl_s
        self._grace_s = grace_s
        self._prune_at_s = 0.0
        self._windows: dict[tuple[str, int], _Window] = {}
        self._running: dict[str, dict[str, int]] = {}
        self._holders: dict[str, _Holder] = {}  # the one that called last is last

    async def exchange(self, call: LeaseCall) -> LeaseAnswer:
        return self.exchange_now(call)

    def exchange_now(self, call: LeaseCall) -> LeaseAnswer:
        """The same without waiting."""
        now_s = self._clock()
        self._prune(now_s)
        holder = self._holders.pop(call.holder, None)
        if holder is None:
            holder = _Holder()
            while len(self._holders) >= HOLDERS_MAX:
                self._forget(next(iter(self._holders)))
        holder.alive_until_s = now_s + self._holder_ttl_s
        self._holders[call.holder] = holder
        if holder.sequence != call.sequence or holder.answer is None:
            for report in call.reports:
                self._book(call.holder, report)
            alive = self._alive(now_s)
            groups = tuple(self._grant(call.holder, wants, alive) for wants in call.groups)
            holder.sequence = call.sequence
            holder.answer = LeaseAnswer(epoch=EPOCH, holders=alive, groups=groups)
        return holder.answer

    async def leave(self, holder: str) -> None:
        self._stop(holder)
        if holder in self._holders:
            self._holders[holder].alive_until_s = 0.0

    async def close(self) -> None:
        return

    def used(self, counter: str, window: int) -> int:
        """What is lent or used; of a counter without a window, what runs."""
        if window == NO_WINDOW:
            return sum(self._running.get(counter, {}).values())
        found = self._windows.get((counter, window))
        return found.used if found else 0

    async def read(self, counters: Sequence[LimitCounter]) -> tuple[int, ...]:
        return tuple(self.used(one.name, one.window) for one in counters)

    def snapshot(self) -> tuple[SavedCounter, ...]:
        """Days and months that are not over."""
        now_s = self._clock()
        return tuple(
            SavedCounter(counter=counter, window=window, ends_s=found.ends_s, used=found.used)
            for (counter, window), found in self._windows.items()
            if found.ends_s > now_s and found.ends_s - window >= LONG_WINDOW_S
        )

    def restore(self, saved: Iterable[SavedCounter]) -> None:
        """Before the first call."""
        for each in saved:
            self._windows[each.counter, each.window] = _Window(each.ends_s, each.used)

    def _book(self, holder: str, report: LeaseReport) -> None:
        if report.window == NO_WINDOW:
            self._hold(report.counter, holder, report.amount)
        else:
            self._window(report.counter, report.window, report.ends_s).add(report.amount)

    def _grant(self, holder: str, wants: tuple[Want, ...], holders: int) -> tuple[Grant, ...]:
        lefts = [want.limit - self.used(want.counter, want.window) for want in wants]
        if any(left < want.at_least for want, left in zip(wants, lefts, strict=True)):
            return tuple(Grant(amount=0, left=left) for left in lefts)
        grants = []
        for want, left in zip(wants, lefts, strict=True):
            amount = lent(want, left, holders)
            if want.window == NO_WINDOW:
                self._hold(want.counter, holder, self._running.get(want.counter, {}).get(holder, 0) + amount)
            else:
                self._window(want.counter, want.window, want.ends_s).add(amount)
            grants.append(Grant(amount=amount, left=left - amount))
        return tuple(grants)

    def _window(self, counter: str, window: int, ends_s: float) -> "_Window":
        found = self._windows.get((counter, window))
        if found is None:
            found = self._windows[counter, window] = _Window(ends_s, 0)
        return found

    def _hold(self, counter: str, holder: str, amount: int) -> None:
        by_holder = self._running.setdefault(counter, {})
        if amount > 0:
            by_holder[holder] = amount
            return
        by_holder.pop(holder, None)
        if not by_holder:
            del self._running[counter]

    def _alive(self, now_s: float) -> int:
        return sum(holder.alive_until_s > now_s for holder in self._holders.values())

    def _prune(self, now_s: float) -> None:
        for name, holder in self._holders.items():
            if now_s + self._holder_ttl_s < holder.alive_until_s:  # the clock was set back
                holder.alive_until_s = now_s + self._holder_ttl_s
            if 0.0 < holder.alive_until_s <= now_s:
                self._stop(name)
                holder.alive_until_s = 0.0
        if now_s < self._prune_at_s <= now_s + PRUNE_S:
            return
        self._prune_at_s = now_s + PRUNE_S
        self._windows = {key: found for key, found in self._windows.items() if found.ends_s + self._grace_s > now_s}

    def _forget(self, holder: str) -> None:
        self._stop(holder)
        del self._holders[holder]

    def _stop(self, holder: str) -> None:
        for counter in [counter for counter, by_holder in self._running.items() if holder in by_holder]:
            self._hold(counter, holder, 0)


def lent(want: Want, left: int, holders: int) -> int:
    """All that was wanted while there is much, no more than is needed when there is little."""
    return max(want.at_least, min(want.wanted, left // (2 * holders)))  # half of a holder's part of what is left


class _Window:
    __slots__ = ("ends_s", "used")

    def __init__(self, ends_s: float, used: int) -> None:
        self.ends_s = ends_s
        self.used = used

    def add(self, amount: int) -> None:
        # What is given back to a counter that began again was taken from the one before it.
        self.used = max(0, self.used + amount)


class _Holder:
    __slots__ = ("alive_until_s", "answer", "sequence")

    def __init__(self) -> None:
        self.alive_until_s = 0.0
        self.sequence = 0
        self.answer: LeaseAnswer | None = None
