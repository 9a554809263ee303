"""Drops kept answers in every worker of every gateway with this database."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from heterodyne.config.settings import Settings
from heterodyne.console.policies.forms import DropForm
from heterodyne.console.policies.pages import Dropped
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.nearest import unknown_name
from heterodyne.ports.policy_store import PolicyStore
from heterodyne.telemetry.loops import run_periodically

FOLLOW_INTERVAL_S: Final = 2.0
TTL_MIN_S: Final = 3600.0  # a cache that is not in the settings any more may have kept longer than those that are

PublishDrops = Callable[[tuple[CacheDrop, ...]], Awaitable[bool]]  # to all workers; whether they work by it


class CacheDropper:
    """One per supervisor."""

    def __init__(
        self,
        store: PolicyStore,
        publish: PublishDrops,
        settings: Callable[[], Settings],
        began: tuple[CacheDrop, ...],
        *,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`began` is what the workers began with."""
        self._store = store
        self._publish = publish
        self._settings = settings
        self._published = began
        self._is_published = True
        self._wall_clock = wall_clock

    async def run(self) -> None:
        """Follow what other gateways drop, until cancelled."""
        await run_periodically("cache drops", self.follow, FOLLOW_INTERVAL_S)

    async def follow(self) -> bool:
        """Give the workers what is stored; whether all of them work by it."""
        drops = await self._store.drops(self._wall_clock())
        if drops != self._published or not self._is_published:
            self._is_published = await self._publish(drops)
            self._published = drops
        return self._is_published

    async def drop(self, form: DropForm) -> Dropped:
        """From now on nothing of it that was asked for before is given again."""
        settings = self._settings()
        drop = CacheDrop(
            at=self._wall_clock(), tag=form.tag, model=_model_of(settings, form.model), project=form.project
        )
        ttl_s = max([TTL_MIN_S, *(cache.ttl_s for cache in settings.caches.values())])
        await self._store.add_drop(drop, drop.at + ttl_s)
        return Dropped(drop=drop, is_applied=await self.follow())


def _model_of(settings: Settings, name: str) -> str:
    """What an alias means; raises UnknownName."""
    if not name:
        return ""
    aliases: Mapping[str, str] = {alias: model for model, one in settings.models.items() for alias in one.aliases}
    models = {pool.model for pool in settings.pools.values()}
    model = aliases.get(name, name)
    if model not in models:
        raise unknown_name("model", name, models | set(aliases))
    return model
