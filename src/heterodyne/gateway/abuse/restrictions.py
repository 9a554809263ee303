"""Lets keys wait, or refuses them, that a policy took for abused: until the time that the supervisor has set.

A key that is slowed down has its requests spaced evenly. Each worker lets its part of them pass, so a client that holds
one connection may get less than all workers together allow, and none gets more.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from math import ceil
from typing import Final

from heterodyne.domain.errors import KeyBlocked, SlowedDown
from heterodyne.domain.key_restriction import KeyRestriction

BLOCKED: Final = (
    "This API key is blocked until {until}, as its use looks like abuse to a policy of this gateway. Its operator can "
    "say more, and can lift the block."
)
SLOWED: Final = (
    "This API key may send one request in {spacing_s:.3g} s until {until}, as its use looks like abuse to a policy of "
    "this gateway. Try again in {wait_s} s; the gateway's operator can say more."
)


class KeyRestrictions:
    """Those of one worker; there is none where no key is restricted."""

    def __init__(
        self,
        restrictions: Iterable[KeyRestriction],
        *,
        workers: int,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
        before: "KeyRestrictions | None" = None,
    ) -> None:
        """`before` are those that these replace: who had to wait then waits on."""
        self._by_key = {one.key: one for one in restrictions}
        self._workers = workers
        self._clock = clock
        self._wall_clock = wall_clock
        self._next_at_s = {} if before is None else before.waits_of(self._by_key)

    def waits_of(self, keys: Iterable[str]) -> dict[str, float]:
        """When the next request of each may pass, of those that have waited."""
        return {key: self._next_at_s[key] for key in keys if key in self._next_at_s}

    def check(self, key: str) -> None:
        """Raise KeyBlocked or SlowedDown where this request of the key may not pass."""
        one = self._by_key.get(key)
        if one is None or one.action == "alert":
            return
        left_s = one.until_at - self._wall_clock()
        if left_s <= 0:
            return
        until = datetime.fromtimestamp(one.until_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        if one.action == "block":
            raise KeyBlocked(BLOCKED.format(until=until), retry_after_s=ceil(left_s))
        now_s = self._clock()
        next_at_s = self._next_at_s.get(key, now_s)
        spacing_s = 60 * self._workers / one.requests_per_minute
        if next_at_s > now_s:
            wait_s = ceil(min(next_at_s - now_s, left_s))
            raise SlowedDown(SLOWED.format(spacing_s=spacing_s, until=until, wait_s=wait_s), retry_after_s=wait_s)
        self._next_at_s[key] = now_s + spacing_s
