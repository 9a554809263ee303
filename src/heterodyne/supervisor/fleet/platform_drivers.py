"""The drivers of platforms that run the commands of pools on other machines; they follow reloads together."""

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import PoolName
from heterodyne.fleet.ray.driver import PlacedRayPool, RayDriver
from heterodyne.fleet.ray.messages import RayOrder
from heterodyne.ports.fleet_driver import FleetDriver
from heterodyne.supervisor.configured_replicas import command_pools


class PlatformDrivers:
    """One per supervisor."""

    def __init__(self, settings: Settings) -> None:
        self._ray = RayDriver(_ray_order(settings), _ray_pools(settings))

    @property
    def all(self) -> tuple[FleetDriver, ...]:
        """Each of them."""
        return (self._ray,)

    def take(self, settings: Settings) -> None:
        """Other settings hold."""
        self._ray.take(_ray_order(settings), _ray_pools(settings))


def _ray_order(settings: Settings) -> RayOrder | None:
    fleet = settings.fleet
    if fleet.ray_address is None:
        return None
    return RayOrder(address=fleet.ray_address, namespace=fleet.ray_namespace)


def _ray_pools(settings: Settings) -> dict[PoolName, PlacedRayPool]:
    return {
        name: PlacedRayPool(pool=pool, settings=settings.pools[name])
        for name, pool in command_pools(settings, "ray").items()
    }
