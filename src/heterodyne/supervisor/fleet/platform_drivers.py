"""The drivers of platforms that run the commands of pools on other machines; they follow reloads together."""

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import PoolName
from heterodyne.fleet.hosts.driver import HostsDriver
from heterodyne.fleet.hosts.platform import PlacedPool
from heterodyne.fleet.hosts.slurm import SlurmAccess, SlurmPlatform
from heterodyne.fleet.hosts.ssh import SshAccess, SshPlatform
from heterodyne.fleet.platform_settings import Platform
from heterodyne.fleet.ray.driver import PlacedRayPool, RayDriver
from heterodyne.fleet.ray.messages import RayOrder
from heterodyne.ports.fleet_driver import FleetDriver
from heterodyne.supervisor.configured_replicas import command_pools


class PlatformDrivers:
    """One per supervisor."""

    def __init__(self, settings: Settings) -> None:
        self._ray = RayDriver(_ray_order(settings), _ray_pools(settings))
        self._hosts = SshPlatform(_ssh_access(settings))
        self._ssh = HostsDriver(self._hosts, _placed_pools(settings, "ssh"))
        self._jobs = SlurmPlatform(_slurm_access(settings))
        self._slurm = HostsDriver(self._jobs, _placed_pools(settings, "slurm"))

    @property
    def all(self) -> tuple[FleetDriver, ...]:
        """Each of them."""
        return self._ray, self._ssh, self._slurm

    def take(self, settings: Settings) -> None:
        """Other settings hold."""
        self._ray.take(_ray_order(settings), _ray_pools(settings))
        self._hosts.take(_ssh_access(settings))
        self._ssh.take(_placed_pools(settings, "ssh"))
        self._jobs.take(_slurm_access(settings))
        self._slurm.take(_placed_pools(settings, "slurm"))


def _ssh_access(settings: Settings) -> SshAccess:
    fleet = settings.fleet
    return SshAccess(command=fleet.ssh_command, folder=fleet.ssh_folder, namespace=fleet.hosts_namespace)


def _slurm_access(settings: Settings) -> SlurmAccess:
    return SlurmAccess(over=settings.fleet.slurm_over, namespace=settings.fleet.hosts_namespace)


def _placed_pools(settings: Settings, runs_on: Platform) -> dict[PoolName, PlacedPool]:
    return {
        name: PlacedPool(pool=pool, settings=settings.pools[name])
        for name, pool in command_pools(settings, runs_on).items()
    }


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
