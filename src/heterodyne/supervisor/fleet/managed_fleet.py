"""The fleet that is wanted: its replicas, the settings it is wanted by, and the workers that are given both.

A replica on its way out gets nothing new, ends what it has within `gateway.drain_timeout_s`, and only then leaves.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

from heterodyne.config.settings import Settings
from heterodyne.console.fleet.forms import Selection
from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.nearest import unknown_name
from heterodyne.supervisor.fleet.managed_replica import ManagedReplica
from heterodyne.supervisor.workers.workers import Workers
from heterodyne.telemetry import log

APPLY_TIMEOUT_S = 5.0  # a busy worker takes an order between two requests

_log = log.get("assembly")


def ordered(replicas: Iterable[ManagedReplica]) -> tuple[Replica, ...]:
    """As workers get them."""
    return tuple(managed.as_ordered() for managed in replicas)


class ManagedFleet:
    """One per supervisor. State changes between two awaits; what takes time runs in tasks of its own."""

    def __init__(self, settings: Settings, replicas: Iterable[ManagedReplica], workers: Workers) -> None:
        self.settings = settings
        self.workers = workers
        self._managed = {managed.member.replica.id: managed for managed in replicas}
        self._group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, group: asyncio.TaskGroup) -> None:
        """Begin what is to run here; everything that follows is a child of the group."""
        self._group = group
        for managed in self._managed.values():
            managed.start(group)

    def close(self) -> None:
        """Change nothing more and end what runs here."""
        for task in self._tasks:
            task.cancel()
        for managed in self._managed.values():
            managed.cancel()

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Have a change carried out beside what serves."""
        assert self._group is not None
        task = self._group.create_task(_rooted(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def replicas(self) -> tuple[ManagedReplica, ...]:
        """Those on their way out included."""
        return tuple(self._managed.values())

    def serving(self) -> list[ManagedReplica]:
        """Those that stay."""
        return [managed for managed in self._managed.values() if not managed.is_leaving]

    def of(self, id: ReplicaId) -> ManagedReplica:
        """The replica of an id that is in the fleet."""
        return self._managed[id]

    def choose(self, selection: Selection) -> list[ManagedReplica]:
        """The replicas that are meant; those on their way out cannot be."""
        serving = self.serving()
        if selection.replica is not None:
            chosen = [managed for managed in serving if managed.member.replica.id == selection.replica]
            if not chosen:
                raise unknown_name("replica", selection.replica, [managed.member.replica.id for managed in serving])
            return chosen
        chosen = [managed for managed in serving if managed.member.replica.pool == selection.pool]
        if not chosen:
            pools = dict.fromkeys(managed.member.replica.pool for managed in serving)
            raise unknown_name("pool", selection.pool or "", pools)
        return chosen

    def add(self, managed: ManagedReplica) -> None:
        """One more; workers get it with the next `publish`."""
        self._managed[managed.member.replica.id] = managed
        if self._group is not None:
            managed.start(self._group)

    def forget(self, id: ReplicaId) -> None:
        """One that is gone; workers hear of it with the next `publish`."""
        del self._managed[id]

    def publish(self) -> int:
        """Give every worker the fleet as it is now; its version."""
        return self.workers.publish(self.settings, ordered(self._managed.values()))

    async def wait_applied(self, version: int) -> bool:
        """Whether every worker works by this version within a moment."""
        return await self.workers.wait_applied(version, APPLY_TIMEOUT_S)

    async def wait_idle(self, managed: ManagedReplica, version: int) -> bool:
        """Whether the replica has ended what it had within the time it has for that."""
        replica = managed.member.replica
        return await self.workers.wait_idle(replica.id, version, self.settings.gateway.drain_timeout_s)

    async def retire(self, leaving: Sequence[ManagedReplica], version: int) -> None:
        """Let them finish, each at its own pace, and forget them."""
        await asyncio.gather(*(self._retire_one(managed, version) for managed in leaving))

    async def _retire_one(self, managed: ManagedReplica, version: int) -> None:
        replica = managed.member.replica
        is_idle = await self.wait_idle(managed, version)
        if self._managed.get(replica.id) is managed:
            del self._managed[replica.id]
        self.publish()
        await managed.stop()
        _log.info("replica_left", replica=replica.id, is_idle=is_idle)


async def _rooted(work: Coroutine[Any, Any, None], name: str) -> None:
    """The root of a task: our mistake must not end what serves."""
    try:
        await work
    except Exception as error:  # noqa: BLE001
        _log.error("change_failed", change=name, exc_info=error)
