"""What the driver of commands asks of that which runs them: hosts over SSH, or Slurm."""

from typing import Protocol

from msgspec import Struct

from heterodyne.domain.fleet import PoolName
from heterodyne.fleet.command_pool import CommandPool
from heterodyne.fleet.settings import PoolSettings


class PlacedPool(Struct, frozen=True, kw_only=True):
    """One pool, and what its settings say of the platform."""

    pool: CommandPool
    settings: PoolSettings

    @property
    def name(self) -> PoolName:
        """Its name."""
        return self.pool.replica.pool


class CommandReplica(Struct, frozen=True, kw_only=True):
    """One that the platform has, or had."""

    id: str  # of one life
    place: str  # what the platform finds it by, for messages too: `gpu-a:30000`, `job 4711`
    host: str | None = None  # that gateways call; None: it has no machine yet
    port: int = 0
    ran_s: float | None = None  # since it has a machine; None: the platform does not say
    left_s: float | None = None  # until the platform takes the machine away; None: it may stay
    problem: str | None = None
    is_ended: bool = (
        False  # its process has ended, and is to be cleared away; unless cancelled, another takes its place
    )
    is_cancelled: bool = False  # somebody else has ended it on purpose, and wants one less
    is_ours: bool = False  # this gateway has asked for it since it began, whether it heard of it or not
    is_silent: bool = False  # its machine does not answer; it is as it was seen last


class CommandPlatform(Protocol):
    """One per gateway. Every call has a deadline, and raises `DriverUnavailable` where nobody answers."""

    name: str

    async def find(self, pool: PlacedPool) -> tuple[CommandReplica, ...]:
        """Those that run or wait, and once those that have ended since the last call."""
        ...

    async def start(self, pool: PlacedPool) -> CommandReplica:
        """One more. Raises `DriverRefused` where there is no place for it, or it may not."""
        ...

    async def stop(self, pool: PlacedPool, replica: CommandReplica) -> None:
        """End it, with what it has left behind; one that is gone is no error."""
        ...
