"""The models of the settings, each with whether its weights are on this machine."""

from msgspec import Struct, structs

from heterodyne.config.settings import Settings
from heterodyne.domain.url_secrets import shown, without_secrets
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.registry.cache import WeightCache, cache_folder
from heterodyne.registry.catalog.reference import names_version
from heterodyne.registry.weights import absolute


class ConfiguredModel(Struct, frozen=True, kw_only=True):
    """One pool's model; `cached` and `size_bytes` are None where replicas are reached by URL."""

    model: str
    pool: str
    engine: str
    source: tuple[str, ...]
    cached: bool | None = None
    size_bytes: int | None = None  # None also while the weights are not here
    path: str | None = None  # None while the weights are not here
    aliases: tuple[str, ...] = ()
    fallbacks: tuple[str, ...] = ()

    @property
    def cached_in_words(self) -> str:
        if self.cached is None:
            return "-"
        return "yes" if self.cached else "no"


def configured_models(settings: Settings) -> tuple[ConfiguredModel, ...]:
    """One row per pool, in the order of the settings."""
    cache = WeightCache(cache_folder(settings.registry))
    return tuple(
        _row(name, pool, settings.models.get(pool.model, ModelSettings()), cache)
        for name, pool in settings.pools.items()
    )


def _row(name: str, pool: PoolSettings, model: ModelSettings, cache: WeightCache) -> ConfiguredModel:
    row = ConfiguredModel(
        model=pool.model,
        pool=name,
        engine=pool.engine,
        source=shown(pool.urls),
        aliases=model.aliases,
        fallbacks=model.fallbacks,
    )
    if pool.weights is None:
        return row
    if names_version(pool.weights):
        return structs.replace(row, source=(pool.weights,))
    return _with_weights(row, pool.weights, pool.weights_sha256, cache)


def _with_weights(row: ConfiguredModel, weights: str, sha256: str | None, cache: WeightCache) -> ConfiguredModel:
    entry = cache.entry(absolute(weights))
    served = entry.try_served(sha256, verify=False)
    manifest = entry.try_manifest() if served is not None else None
    return structs.replace(
        row,
        source=(without_secrets(weights),),
        cached=served is not None,
        size_bytes=None if manifest is None else manifest.size_bytes,
        path=None if served is None else str(served),
    )
