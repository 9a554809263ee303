"""One replica of the fleet in the supervisor's hands: what is wanted of it, and its process where there is one."""

import asyncio

import msgspec
from msgspec import structs

from heterodyne.domain.fleet import Replica
from heterodyne.fleet.supervised_process import SupervisedProcess
from heterodyne.supervisor.fleet.reconcile import FleetMember
from heterodyne.supervisor.fleet.replica_rows import ManagedReplicaState
from heterodyne.telemetry.loops import keep_running

ENGINE_STOP_TIMEOUT_S = 5.0


class ManagedReplica:
    """One per replica; the fleet alone has it."""

    def __init__(self, member: FleetMember) -> None:
        self.member = member
        self.is_drained = False  # by an operator
        self.is_unready = False  # its cluster says so
        self.is_superseded = False  # leaves as soon as those that take its place are ready
        self.is_leaving = False
        self.is_given_up = False  # by the autoscaler; it takes nothing new, and may yet be kept
        self.is_restarting = False
        self.process = None if member.order is None else _engine(member)
        self._task: asyncio.Task[None] | None = None

    def start(self, group: asyncio.TaskGroup) -> None:
        """Begin its process, if it has one here."""
        if self.process is not None:
            self._task = group.create_task(keep_running(self.process.name, self.process.run), name=self.process.name)

    async def stop(self) -> None:
        """End its process."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    def cancel(self) -> None:
        """As `stop`, without waiting."""
        if self._task is not None:
            self._task.cancel()

    @property
    def is_draining(self) -> bool:
        """Whether it is to get nothing new."""
        is_held = self.is_drained or self.is_unready or self.is_given_up
        return is_held or self.is_leaving or self.is_restarting

    def as_ordered(self) -> Replica:
        """As workers get it."""
        return structs.replace(self.member.replica, is_draining=self.is_draining)

    def snapshot(self) -> ManagedReplicaState:
        """What the operator's page needs of it."""
        return ManagedReplicaState(
            member=self.member,
            is_drained=self.is_drained or self.is_unready or self.is_given_up,
            is_leaving=self.is_leaving,
            is_restarting=self.is_restarting,
            process_restarts=None if self.process is None else self.process.restarts,
        )


def _engine(member: FleetMember) -> SupervisedProcess:
    return SupervisedProcess(
        f"engine {member.replica.id}",
        "heterodyne.fleet.llamacpp_child",
        msgspec.json.encode(member.order),
        start_timeout_s=member.start_timeout_s,
        stop_timeout_s=ENGINE_STOP_TIMEOUT_S,
    )
