"""How much may be retried, in tokens: repeating one prompt of 100,000 costs what repeating a thousand small ones does.

First attempts deposit a share of their prompt tokens, retries withdraw all of theirs, and both are forgotten after a
window. So retries never multiply the load of a model that is failing. A reserve lets a quiet model retry too.
"""

SLOTS = 10  # of the window; what is forgotten is forgotten a slot at a time


class RetryBudget:
    """One per model. Over any window, retries are at most the deposits of that window and the reserve."""

    __slots__ = ("_balance", "_reserve", "_share", "_slot", "_slots", "_slots_per_s", "refused", "spent_tokens")

    def __init__(self, *, share: float, window_s: float, reserve_tokens_per_s: float) -> None:
        self._share = share
        self._slots_per_s = SLOTS / window_s
        self._reserve = reserve_tokens_per_s * window_s
        self._slots = [0.0] * SLOTS  # deposits less withdrawals
        self._slot = 0
        self._balance = self._reserve
        self.spent_tokens = 0
        self.refused = 0

    def deposit(self, tokens: int, now_s: float) -> None:
        """A first attempt of this many prompt tokens starts."""
        slot = int(now_s * self._slots_per_s)
        if slot > self._slot:
            self._advance(slot)
        earned = tokens * self._share
        self._slots[self._slot % SLOTS] += earned
        self._balance += earned

    def try_spend(self, tokens: int, now_s: float) -> bool:
        """Whether a request of this many prompt tokens may be sent once more; if so, it is paid for."""
        slot = int(now_s * self._slots_per_s)
        if slot > self._slot:
            self._advance(slot)
        if tokens > self._balance:
            self.refused += 1
            return False
        self._slots[self._slot % SLOTS] -= tokens
        self._balance -= tokens
        self.spent_tokens += tokens
        return True

    def available_tokens(self, now_s: float) -> float:
        """What could be spent now; never negative to whoever looks."""
        slot = int(now_s * self._slots_per_s)
        if slot > self._slot:
            self._advance(slot)
        return max(0.0, self._balance)

    def _advance(self, slot: int) -> None:
        for passed in range(max(self._slot + 1, slot - SLOTS + 1), slot + 1):
            self._slots[passed % SLOTS] = 0.0
        self._slot = slot
        self._balance = self._reserve + sum(self._slots)  # anew each time, so that rounding cannot pile up
