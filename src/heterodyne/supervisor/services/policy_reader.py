"""Puts together what is known of guards, caches and cascades: settings, stored minutes, and what workers say."""

import asyncio
from collections.abc import Callable, Mapping

from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.console.policies.cache_rows import cache_rows
from heterodyne.console.policies.cascade_rows import SetCascade, cascade_rows
from heterodyne.console.policies.counts import PolicyCounts
from heterodyne.console.policies.guard_rows import guard_failures, guard_rows
from heterodyne.console.policies.pages import CachePage, CascadePage, GuardPage, HitPage
from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.guard_hit import GuardHitQuery
from heterodyne.domain.history import MINUTE_S
from heterodyne.gateway.cascades.load import read_fitted
from heterodyne.ports.policy_store import PolicyStore
from heterodyne.routing.cascade.settings import CascadeSettings
from heterodyne.supervisor.policies.watch import PolicyWatch
from heterodyne.telemetry import metrics


class PolicyReader:
    """One per supervisor. A span is rounded to whole minutes."""

    def __init__(self, store: PolicyStore, watch: PolicyWatch, settings: Callable[[], Settings]) -> None:
        self._store = store
        self._watch = watch
        self._settings = settings

    async def guards(self, since_at: float, until_at: float) -> GuardPage:
        counts, minute = await self._counts(since_at, until_at), self._last_minute()
        return GuardPage(
            since_at=since_at,
            until_at=until_at,
            guards=guard_rows(self._settings().guards, counts, minute),
            failures=guard_failures(counts, minute),
        )

    async def hits(self, query: GuardHitQuery) -> HitPage:
        found = await self._store.hits(structs.replace(query, limit=query.limit + 1))
        return HitPage(hits=found[: query.limit], is_cut=len(found) > query.limit)

    async def caches(self, since_at: float, until_at: float) -> CachePage:
        settings, counts = self._settings(), await self._counts(since_at, until_at)
        gauges = PolicyCounts(self._watch.now().gauges)
        return CachePage(
            since_at=since_at,
            until_at=until_at,
            caches=cache_rows(settings.caches, counts, self._last_minute(), gauges),
            entries=gauges.whole(metrics.cache_entries),
            size_bytes=gauges.whole(metrics.cache_bytes),
            size_bytes_max=settings.gateway.cache_bytes_max * settings.gateway.workers,
            prompts=gauges.whole(metrics.semantic_cache_prompts),
            is_shared=settings.stores.cache_url is not None,
            refused=counts.whole(metrics.cache_entries_refused),
        )

    async def cascades(self, since_at: float, until_at: float) -> CascadePage:
        counts = await self._counts(since_at, until_at)
        known = await asyncio.to_thread(_set_cascades, self._settings().cascades)
        return CascadePage(
            since_at=since_at, until_at=until_at, cascades=cascade_rows(known, counts, self._last_minute())
        )

    async def _counts(self, since_at: float, until_at: float) -> PolicyCounts:
        first = since_at // MINUTE_S * MINUTE_S
        found = await self._store.counts(first, until_at)
        return PolicyCounts({(one.meter, one.labels): one.amount for one in found})

    def _last_minute(self) -> PolicyCounts:
        return PolicyCounts(self._watch.now().last_minute)


def _set_cascades(settings: Mapping[str, CascadeSettings]) -> dict[str, SetCascade]:
    found = {}
    for name, one in settings.items():
        try:
            found[name] = SetCascade(settings=one, fitted=read_fitted(one.fitted))
        except InvalidSpec as error:
            found[name] = SetCascade(settings=one, fitted=None, problem=error.message)
    return found
