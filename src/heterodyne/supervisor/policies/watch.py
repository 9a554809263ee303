"""Follows what workers count of guards, caches and cascades, and keeps it by the minute with what guards found."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from heterodyne.domain.guard_hit import GuardHit
from heterodyne.domain.history import MINUTE_S
from heterodyne.domain.policy_count import PolicyCount
from heterodyne.gateway.guards.hits import HitsAsked, HitsSeen
from heterodyne.ports.policy_store import PolicyStore
from heterodyne.supervisor.policies.growth import CountGrowth, CountKey
from heterodyne.telemetry import exposition, metrics
from heterodyne.telemetry.loops import run_periodically

INTERVAL_S: Final = 5.0
FORGET_INTERVAL_S: Final = 600.0
FORGET_AT_ONCE: Final = 5000  # rows in one transaction
DAY_S: Final = 86400.0
HITS_MAX: Final = 100_000  # in the database
HITS_WAITING_MAX: Final = 5000  # while it is away
MINUTES_WAITING_MAX: Final = 1440
COUNTERS: Final = frozenset(
    meter.name
    for meter in (
        metrics.guard_verdicts,
        metrics.guard_failures,
        metrics.cache_answers,
        metrics.cache_saved_usd,
        metrics.cache_entries_refused,
        metrics.semantic_cache_decisions,
        metrics.semantic_cache_compared,
        metrics.cascade_decisions,
        metrics.cascade_usd,
        metrics.cascade_seconds,
        metrics.cascade_audits,
    )
)
GAUGES: Final = frozenset(
    meter.name
    for meter in (
        metrics.cache_bytes,
        metrics.cache_entries,
        metrics.semantic_cache_prompts,
        metrics.semantic_cache_requests,
        metrics.semantic_cache_wrong_max,
    )
)

FetchHits = Callable[[Mapping[str, HitsAsked]], Awaitable[Mapping[str, HitsSeen]]]


class PoliciesNow(Struct, frozen=True, kw_only=True):
    """What all workers say together."""

    last_minute: Mapping[CountKey, float]
    gauges: Mapping[CountKey, float]


class PolicyWatch:
    """One per supervisor; belongs to one event loop."""

    def __init__(
        self,
        store: PolicyStore,
        run_dir: Path,
        fetch_hits: FetchHits,
        *,
        is_on: Callable[[], bool],
        history_days: Callable[[], int],
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`is_on` says whether there is anything to follow."""
        self._store = store
        self._run_dir = run_dir
        self._fetch_hits = fetch_hits
        self._is_on = is_on
        self._history_days = history_days
        self._wall_clock = wall_clock
        self._growth = CountGrowth()
        self._gauges: Mapping[CountKey, float] = {}
        self._asked: dict[str, HitsAsked] = {}
        self._counts: dict[int, dict[CountKey, float]] = {}  # by minute, until they are stored
        self._hits: deque[GuardHit] = deque(maxlen=HITS_WAITING_MAX)
        self._forget_at_s = 0.0

    async def run(self) -> None:
        """Until cancelled."""
        await run_periodically("policies", self.look, INTERVAL_S)

    async def look(self) -> None:
        """Once: count, fetch what guards found, and store both."""
        if self._is_on():
            await self._count()
            await self._fetch()
            await self._keep()
        await self._forget()

    def now(self) -> PoliciesNow:
        """As it was at the last look."""
        return PoliciesNow(last_minute=self._growth.last_minute(), gauges=self._gauges)

    async def _count(self) -> None:
        counters, self._gauges = await asyncio.to_thread(_counted, self._run_dir)
        now = self._wall_clock()
        grown = self._growth.note(now, counters)
        if not grown:
            return
        waiting = self._counts.setdefault(int(now // MINUTE_S) * MINUTE_S, {})
        for key, amount in grown.items():
            waiting[key] = waiting.get(key, 0.0) + amount
        while len(self._counts) > MINUTES_WAITING_MAX:
            del self._counts[min(self._counts)]

    async def _fetch(self) -> None:
        seen = await self._fetch_hits(self._asked)
        for one in seen.values():
            self._hits.extend(one.hits)
        self._asked |= {name: HitsAsked(life=one.life, found=one.found) for name, one in seen.items()}

    async def _keep(self) -> None:
        """What the database does not take waits."""
        for minute in sorted(self._counts):
            counts = [PolicyCount(*key, amount) for key, amount in self._counts[minute].items()]
            await self._store.add_counts(minute, counts)
            del self._counts[minute]
        if self._hits:
            hits = tuple(self._hits)
            await self._store.add_hits(hits)
            self._hits.clear()

    async def _forget(self) -> None:
        now = self._wall_clock()
        if now >= self._forget_at_s:
            before_at = now - self._history_days() * DAY_S
            gone = await self._store.forget(before_at, FORGET_AT_ONCE, hits_max=HITS_MAX)
            self._forget_at_s = now + (0.0 if gone >= FORGET_AT_ONCE else FORGET_INTERVAL_S)


def _counted(run_dir: Path) -> tuple[dict[CountKey, float], dict[CountKey, float]]:
    counters: dict[CountKey, float] = {}
    gauges: dict[CountKey, float] = {}
    for sample in exposition.gather(run_dir, "", ()):
        if sample.meter in COUNTERS:
            counters[sample.meter, sample.labels] = sample.values[0]
        elif sample.meter in GAUGES:
            gauges[sample.meter, sample.labels] = sample.values[0]
    return counters, gauges
