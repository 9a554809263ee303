"""The models of the settings, each with whether its weights are on this machine."""

from msgspec import Struct

from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.registry.cache import WeightCache, cache_folder


class ConfiguredModel(Struct, frozen=True, kw_only=True):
    """One pool's model; `cached` and `size_bytes` are None where replicas are reached by URL."""

    model: str
    pool: str
    engine: str
    source: tuple[str, ...]
    cached: bool | None = None
    size_bytes: int | None = None  # None also while the weights are not here
    path: str | None = None  # None while the weights are not here

    @property
    def cached_in_words(self) -> str:
        if self.cached is None:
            return "-"
        return "yes" if self.cached else "no"


def configured_models(settings: Settings) -> tuple[ConfiguredModel, ...]:
    """One row per pool, in the order of the settings."""
    cache = WeightCache(cache_folder(settings.registry))
    return tuple(_row(name, pool, cache) for name, pool in settings.pools.items())


def _row(name: str, pool: PoolSettings, cache: WeightCache) -> ConfiguredModel:
    if pool.weights is None:
        return ConfiguredModel(model=pool.model, pool=name, engine=pool.engine, source=pool.urls)
    entry = cache.entry(pool.weights)
    served = entry.try_served(pool.weights_sha256, verify=False)
    manifest = entry.try_manifest() if served is not None else None
    return ConfiguredModel(
        model=pool.model,
        pool=name,
        engine=pool.engine,
        source=(pool.weights,),
        cached=served is not None,
        size_bytes=None if manifest is None else manifest.size_bytes,
        path=None if served is None else str(served),
    )
