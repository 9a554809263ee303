"""Pure: which pools of the settings a cluster knows, and which of those the autoscaler may scale there."""

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import PoolName
from heterodyne.fleet.kubernetes.driven_workload import ScaledPool
from heterodyne.fleet.settings import PoolSettings


def is_scaled(pool: PoolSettings) -> bool:
    """Whether a driver has its replicas; else they are discovered alone."""
    return pool.discover == "kubernetes" and pool.kubernetes_workload is not None and pool.scaling is not None


def discovered_pools(settings: Settings) -> dict[str, PoolSettings]:
    """Those that are followed and not scaled."""
    return {
        name: pool for name, pool in settings.pools.items() if pool.discover == "kubernetes" and not is_scaled(pool)
    }


def scaled_pools(settings: Settings) -> tuple[ScaledPool, ...]:
    """Those that are scaled."""
    return tuple(
        ScaledPool(
            pool=PoolName(name),
            settings=pool,
            maximum=pool.scaling.maximum,
            resync_s=settings.fleet.kubernetes_resync_s,
        )
        for name, pool in settings.pools.items()
        if is_scaled(pool) and pool.scaling is not None
    )
