"""Which pools serve which model, and what for: what the checks of pools and models look up."""

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import Purpose
from heterodyne.engines.open_inference import OpenInferenceDialect
from heterodyne.fleet.settings import PoolSettings


def purpose_of(pool: PoolSettings) -> str:
    """What a pool's model is for; an engine that takes tensors leaves no choice."""
    return Purpose.INFER.value if pool.engine == OpenInferenceDialect.name else pool.purpose


def purposes(settings: Settings) -> dict[str, str]:
    """Every model that a pool serves, with what it is for."""
    return {pool.model: purpose_of(pool) for pool in settings.pools.values()}


def own_pools(settings: Settings, name: str) -> dict[str, PoolSettings]:
    """The pools that serve a model and are not kept from it by its `pools`."""
    listed = settings.models[name].pools if name in settings.models else None
    return {
        pool: one for pool, one in settings.pools.items() if one.model == name and (listed is None or pool in listed)
    }


def field_of_every_pool(settings: Settings, *fields: str) -> tuple[str, ...]:
    """What a finding rests on that has looked at all pools."""
    return (POOLS, *(dotted(POOLS, name, field) for name in settings.pools for field in fields))
