"""One replica that is a child process of this machine, from being asked for until it is gone."""

import asyncio
from collections.abc import Callable

import msgspec
from msgspec import Struct, structs

from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.fleet.child_order import ChildOrder, CommandOrder
from heterodyne.fleet.free_ports import LOOPBACK, free_ports
from heterodyne.fleet.supervised_process import SupervisedProcess
from heterodyne.ports.fleet_driver import DrivenReplica
from heterodyne.telemetry.loops import keep_running

STOP_SLACK_S = 3.0
SAID_CHARS_MAX = 300
MODULES: dict[type[Struct], str] = {
    ChildOrder: "heterodyne.fleet.llamacpp_child",
    CommandOrder: "heterodyne.fleet.command_child",
}


class LocalPool(Struct, frozen=True, kw_only=True):
    """How the replicas of one pool are started."""

    replica: Replica  # the picture of all; id and port are its own
    order: ChildOrder | CommandOrder  # the same, without a port
    first: int  # replicas when the gateway starts
    maximum: int
    start_timeout_s: float
    stop_timeout_s: float = 5.0
    memory_bytes: int | None = None  # that one takes; None: as those that run do


class LocalChild:
    """Owned by the driver."""

    def __init__(self, id: ReplicaId, pool: LocalPool, wall_clock: Callable[[], float]) -> None:
        self.id = id
        self._port = free_ports(1)[0]
        self._wall_clock = wall_clock
        self.asked_at_s = wall_clock()
        self.is_leaving = False
        self._ready_at_s: float | None = None  # None: it does not serve now
        self._process = SupervisedProcess(
            f"engine {id}",
            MODULES[type(pool.order)],
            msgspec.json.encode(structs.replace(pool.order, host=LOOPBACK, port=self._port)),
            start_timeout_s=pool.start_timeout_s,
            stop_timeout_s=pool.stop_timeout_s + STOP_SLACK_S,
            on_start=self._on_start,
            on_exit=self._on_exit,
        )
        self._task: asyncio.Task[None] | None = None
        self.describe(pool)

    def describe(self, pool: LocalPool) -> None:
        """What is said of the pool has changed; the process goes on as it was started."""
        self._replica = structs.replace(pool.replica, id=self.id, host=LOOPBACK, port=self._port)

    def start(self, group: asyncio.TaskGroup) -> None:
        """Begin its process."""
        process = self._process
        self._task = group.create_task(keep_running(process.name, process.run), name=process.name)

    def leave(self) -> None:
        """Ask it to end, and insist where it does not."""
        self.is_leaving = True
        if self._task is not None:
            self._task.cancel()

    @property
    def is_gone(self) -> bool:
        """Whether nothing of it is left."""
        return self.is_leaving and (self._task is None or self._task.done())

    @property
    def pid(self) -> int | None:
        """None: no process runs for it now."""
        return self._process.pid if self._process.is_running else None

    @property
    def stage(self) -> ReplicaStage:
        """Where it is."""
        if self.is_leaving:
            return ReplicaStage.DRAINING
        return ReplicaStage.WARMING if self._ready_at_s is None else ReplicaStage.READY

    def seen(self) -> DrivenReplica:
        """As the autoscaler sees it."""
        return DrivenReplica(
            id=self.id,
            stage=self.stage,
            asked_at_s=self.asked_at_s,
            ready_at_s=self._ready_at_s,
            replica=self._replica,
            problem=self._problem(),
        )

    def _problem(self) -> str | None:
        process = self._process
        if self.is_leaving or self._ready_at_s is not None or not process.restarts:
            return None
        said = process.answer.decode(errors="replace").strip()[:SAID_CHARS_MAX]
        return f"{process.name} has ended {process.restarts} times; it said last: {said or 'nothing'}"

    def _on_start(self) -> None:
        self._ready_at_s = self._wall_clock()

    def _on_exit(self, _: str) -> None:
        """What begins now is another start, and takes its own time."""
        self.asked_at_s, self._ready_at_s = self._wall_clock(), None
