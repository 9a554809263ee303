"""The replicas of pools that `heterodyne parity --pool` asks."""

from collections.abc import Iterable

from heterodyne.config.settings import Settings
from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.nearest import unknown_name
from heterodyne.registry.parity.served import ServedReplica

USUAL_PRECISION = "bf16"


def served_replicas(settings: Settings, pools: Iterable[str], precision: str | None) -> list[ServedReplica]:
    """All that have a URL; raises for pools that are unknown or start their engines themselves."""
    found = []
    for name in pools:
        pool = settings.pools.get(name)
        if pool is None:
            raise unknown_name("pool", name, settings.pools)
        if not pool.urls:
            raise SettingsInvalid(f"the pool {name} has no urls: what it starts itself is judged as an artifact")
        found += [
            ServedReplica(
                pool=name,
                engine=pool.engine,
                url=url,
                model=pool.model,
                precision=precision or pool.precision or USUAL_PRECISION,
            )
            for url in pool.urls
        ]
    return found
