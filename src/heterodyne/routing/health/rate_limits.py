"""Pure: whether a provider's rate limits leave room for a request, by what its latest answer said.

The limits are of an account that others may use too, other workers among them, so every answer replaces what was
known. Until the next one, what we send is taken off and what comes back is added: providers refill their limits all
the time, and `reset` is when they are full again. Where that is not so, a refusal says when to come back.
"""

from collections.abc import Sequence
from math import inf

from heterodyne.domain.provider_limit import OUTPUT_TOKENS, REQUESTS, ProviderLimit

HOLD_MAX_S = 3600.0  # whatever it says, it is asked again after this
UNSAID_RESET_S = 1.0  # where it says that nothing is left, and not for how long
# Of a limit on tokens: a request waits for no more than this share of it, as what is cached may not count.
NEED_SHARE_MAX = 0.1


class RateLimits:
    """One per replica that has said anything. `is_low`: a request has to be looked at before it may be sent."""

    __slots__ = ("_allowances", "_held_until_s", "is_low", "wait_s")

    def __init__(self) -> None:
        self._allowances: dict[str, _Allowance] = {}
        self._held_until_s = -inf
        self.is_low = False
        self.wait_s = 0.0  # of the request that was last asked about

    def on_told(self, limits: Sequence[ProviderLimit], now_s: float) -> None:
        """An answer has come."""
        for limit in limits:
            self._allowances[limit.what] = _Allowance(limit, now_s)
        self.advance(now_s)

    def on_refused(self, retry_after_s: float | None, now_s: float) -> None:
        """It refused a request for want of room; without a time to come back, what is spent must be back whole."""
        if retry_after_s is None:
            spent = [one.reset_at_s - now_s for one in self._allowances.values() if one.left(now_s) < 1.0]
            retry_after_s = max(spent, default=0.0)
        self._held_until_s = max(self._held_until_s, now_s + min(retry_after_s, HOLD_MAX_S))
        self.advance(now_s)

    def on_start(self, now_s: float) -> None:
        """A request is sent. How many tokens the provider will count is its own affair."""
        requests = self._allowances.get(REQUESTS)
        if requests is not None:
            requests.take_one()
        self.advance(now_s)

    def advance(self, now_s: float) -> None:
        """See whether there is more than any request waits for; what was asked before no longer counts."""
        self.wait_s = 0.0
        self.is_low = now_s < self._held_until_s or any(one.is_low(now_s) for one in self._allowances.values())

    def is_spent(self, now_s: float, tokens: float) -> bool:
        """Whether a request of so many prompt tokens has to wait, and then how long is in `wait_s`."""
        self.wait_s = max(
            0.0,
            self._held_until_s - now_s,
            max((one.wait_s(now_s, tokens) for one in self._allowances.values()), default=0.0),
        )
        return self.wait_s > 0.0

    def remaining(self, now_s: float) -> dict[str, float]:
        """What should be left of each limit now, for people."""
        return {what: max(0.0, one.left(now_s)) for what, one in self._allowances.items()}


class _Allowance:
    """What is left of one limit."""

    __slots__ = ("_at_s", "_left", "_limit", "_need_max", "_per_s", "reset_at_s")

    def __init__(self, told: ProviderLimit, now_s: float) -> None:
        reset_s = UNSAID_RESET_S if told.reset_s is None else min(told.reset_s, HOLD_MAX_S)
        self._limit = told.limit
        self._left = told.remaining
        self._at_s = now_s
        self.reset_at_s = now_s + reset_s
        is_refilled = (
            told.limit is not None and told.reset_s is not None and told.limit > told.remaining and reset_s > 0
        )
        self._per_s = (told.limit - told.remaining) / reset_s if is_refilled and told.limit is not None else 0.0
        self._need_max = 1.0
        if told.what not in (REQUESTS, OUTPUT_TOKENS) and told.limit is not None:
            self._need_max = max(1.0, NEED_SHARE_MAX * told.limit)

    def take_one(self) -> None:
        self._left -= 1.0

    def left(self, now_s: float) -> float:
        """All of it from the reset on, as far as it is known how much that is."""
        if now_s < self.reset_at_s:
            return self._left + self._per_s * (now_s - self._at_s)
        if self._limit is not None:
            return self._limit
        return max(self._left, self._need_max)

    def is_low(self, now_s: float) -> bool:
        return self.left(now_s) < self._need_max

    def wait_s(self, now_s: float, tokens: float) -> float:
        missing = max(1.0, min(tokens, self._need_max)) - self.left(now_s)
        if missing <= 0.0:
            return 0.0
        reset_s = max(0.0, self.reset_at_s - now_s)
        return min(reset_s, missing / self._per_s) if self._per_s > 0.0 else reset_s
