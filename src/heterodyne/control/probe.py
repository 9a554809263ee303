"""Asks replicas whether they are ready and publishes a new snapshot when an answer changes."""

import asyncio
from collections.abc import Callable

import msgspec

from heterodyne.domain.errors import EngineError
from heterodyne.domain.fleet import FleetSnapshot, Health, Replica
from heterodyne.ports.engine import EngineDialect
from heterodyne.telemetry import log, metrics
from heterodyne.wire.connection_pool import Address, ConnectionPool
from heterodyne.wire.fetch import get

READY_INTERVAL_S = 1.0
DOWN_INTERVAL_S = 0.2
TIMEOUT_S = 2.0
FAILURES_MAX = 2  # of a ready replica in a row; one lost probe of a busy engine is not a verdict

_log = log.get("control")

Publish = Callable[[FleetSnapshot], None]


class ReadinessProbe:
    """One loop per replica, all children of one task."""

    def __init__(
        self, dialects: dict[str, EngineDialect], pool: ConnectionPool, fleet: FleetSnapshot, publish: Publish
    ) -> None:
        self._dialects = dialects
        self._pool = pool
        self._fleet = fleet
        self._publish = publish

    async def run(self) -> None:
        """Probe until cancelled."""
        async with asyncio.TaskGroup() as group:
            for replica in self._fleet.replicas:
                group.create_task(self._watch(replica), name=f"probe {replica.id}")

    async def _watch(self, replica: Replica) -> None:
        health, failures = replica.health, 0
        while True:
            is_ready = await self._is_ready(replica)
            failures = 0 if is_ready else failures + 1
            seen = health
            if is_ready:
                seen = Health.READY
            elif health is Health.READY and failures >= FAILURES_MAX:
                seen = Health.DOWN
            if seen is not health:
                _log.info("replica_health", replica=replica.id, was=health.value, now=seen.value)
                health = seen
                self._change(replica, health)
            metrics.replica_ready.set((replica.pool, replica.id), float(health is Health.READY))
            await asyncio.sleep(READY_INTERVAL_S if health is Health.READY and is_ready else DOWN_INTERVAL_S)

    async def _is_ready(self, replica: Replica) -> bool:
        path = replica.base_path + self._dialects[replica.engine].health_path
        address = Address(replica.host, replica.port, replica.tls)
        try:
            answer = await get(self._pool, address, path, timeout_s=TIMEOUT_S)
        except EngineError:
            return False
        # An engine that wants a key it was not given is still up.
        return answer.status in (200, 401, 403)

    def _change(self, changed: Replica, health: Health) -> None:
        replicas = tuple(
            msgspec.structs.replace(replica, health=health) if replica.id == changed.id else replica
            for replica in self._fleet.replicas
        )
        self._fleet = FleetSnapshot.of(self._fleet.version + 1, replicas)
        self._publish(self._fleet)
