"""Listens to the KV events of every replica that publishes them, for the router.

    listener = KvListener(router, clock=time.monotonic, chance=random.random)
    await listener.run()              until cancelled
    listener.publish(fleet)           whenever the control loop does

Without such replicas ZeroMQ is not even imported.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from heterodyne.control.kv_channel import KvChannel
from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import FleetSnapshot, Replica, ReplicaId
from heterodyne.ports.kv_sink import KvSink
from heterodyne.telemetry import log

FAILED_PAUSE_S = 5.0  # after a mistake of ours; lost connections come back by themselves

_log = log.get("control")


class KvListener:
    """One per worker: a task for every publisher, all children of one."""

    def __init__(self, sink: KvSink, *, clock: Callable[[], float], chance: Callable[[], float]) -> None:
        self._sink = sink
        self._clock = clock
        self._chance = chance
        self._replicas: dict[ReplicaId, Replica] = {}
        self._channels: dict[ReplicaId, tuple[KvChannel, ...]] = {}
        self._tasks: dict[ReplicaId, tuple[asyncio.Task[None], ...]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._zmq: Any = None
        self._context: Any = None

    async def run(self) -> None:
        """Listen until cancelled."""
        try:
            async with asyncio.TaskGroup() as self._group:
                for replica in self._replicas.values():
                    self._start(replica)
                await asyncio.Event().wait()
        finally:
            self._group = None
            self._tasks.clear()
            if self._context is not None:
                self._context.destroy(linger=0)

    def publish(self, fleet: FleetSnapshot) -> None:
        """These are the replicas now; those that stay are listened to without a break."""
        wanted = {replica.id: replica for replica in fleet.replicas if replica.kv_publishers}
        if wanted and self._zmq is None:
            self._open()
        for id in [id for id, known in self._replicas.items() if id not in wanted or _kind(known) != _kind(wanted[id])]:
            del self._replicas[id]
            self._channels.pop(id, None)
            for task in self._tasks.pop(id, ()):
                task.cancel()
        for id, replica in wanted.items():
            if id not in self._replicas:
                self._replicas[id] = replica
                if self._group is not None:
                    self._start(replica)

    def _open(self) -> None:
        try:
            import zmq  # noqa: PLC0415  # an extra; not needed where no replica publishes
        except ModuleNotFoundError as error:
            raise InvalidSpec("kv_events: needs ZeroMQ; `pip install 'heterodyne[kv-events]'`") from error
        self._zmq, self._context = zmq, zmq.Context()

    def _start(self, replica: Replica) -> None:
        assert self._group is not None
        publishers = replica.kv_publishers
        channels = self._channels[replica.id] = tuple(
            KvChannel(
                replica.id,
                publisher,
                rank if len(publishers) > 1 else None,
                self._sink,
                lambda: self._begin(replica.id),
                zmq=self._zmq,
                context=self._context,
                clock=self._clock,
                chance=self._chance,
            )
            for rank, publisher in enumerate(publishers)
        )
        self._tasks[replica.id] = tuple(
            self._group.create_task(self._listen(channel), name=f"kv events {replica.id} {rank}")
            for rank, channel in enumerate(channels)
        )

    def _begin(self, replica: ReplicaId) -> None:
        """A publisher is new: all ranks are heard from the beginning, for their blocks are counted together."""
        self._sink.on_kv_restart(replica, self._clock())
        for channel in self._channels.get(replica, ()):
            channel.begin()

    async def _listen(self, channel: KvChannel) -> None:
        while True:
            try:
                await channel.run()
            except Exception as error:  # noqa: BLE001  # the root of a task: our mistake must not end the gateway
                _log.error("kv_events_failed", replica=channel.replica, exc_info=error)
            await asyncio.sleep(FAILED_PAUSE_S * (0.5 + self._chance()))


def _kind(replica: Replica) -> tuple[object, ...]:
    """Another of any of these is a new replica to the router, or is heard elsewhere."""
    return (
        replica.kv_publishers,
        replica.pool,
        replica.model,
        replica.engine,
        replica.hardware,
        replica.tp,
        replica.version,
    )
