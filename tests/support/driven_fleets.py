"""A fleet that a scripted driver starts, with workers that see what a test says: autoscaling without processes."""

from typing import Any, cast

from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.control.replica_seen import FleetSeen, ReplicaSeen
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Health, PoolName, Replica, ReplicaId, Wake
from heterodyne.fleet.scaling_settings import ScalingSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.demand_tally import DemandSeen
from heterodyne.routing.health.snapshot import FleetHealthSnapshot
from heterodyne.supervisor.fleet.driven_fleet import DrivenFleet
from heterodyne.supervisor.fleet.managed_fleet import ManagedFleet, ordered
from heterodyne.supervisor.scaling.scaled_fleet import ScaledFleet
from heterodyne.supervisor.workers.view import WorkerView
from heterodyne.supervisor.workers.workers import Workers
from heterodyne.testing.scripted_fleet_driver import ScriptedFleetDriver
from tests.support.driver_bench import replica_of

MODEL = "m"
CHAT = PoolName("chat")


def view(
    *replicas: Replica, demand: DemandSeen | None = None, in_flight: dict[str, int] | None = None, pid: int = 1
) -> WorkerView:
    """One worker that sees all of these ready."""
    seen = tuple(seen_of(one) for one in replicas)
    by_replica = {ReplicaId(id): count for id, count in (in_flight or {}).items()}
    return WorkerView(
        name="worker-0",
        pid=pid,
        version=1,
        at_s=0.0,
        fleet=FleetSeen(version=1, interval_s=1.0, replicas=seen),
        health=FleetHealthSnapshot(models=(), replicas=(), ejections_refused={}),
        in_flight=sum(by_replica.values()),
        in_flight_by_replica=by_replica,
        demand={MODEL: demand} if demand is not None else {},
    )


def seen_of(replica: Replica, *, health: Health = Health.READY, load: EngineLoad | None = None) -> ReplicaSeen:
    """As a worker's watch has it."""
    return ReplicaSeen(
        id=replica.id,
        pool=replica.pool,
        model=replica.model,
        engine=replica.engine,
        url="http://127.0.0.1:9",
        health=health,
        health_for_s=1.0,
        is_draining=False,
        looked_ago_s=0.1,
        probe_ms=1.0,
        error=None,
        context_tokens=None,
        adapters=(),
        serves=(),
        load=load,
        load_age_s=None if load is None else 0.1,
        restarts=0,
        problems=(),
    )


class SeeingWorkers:
    """Workers that take every order at once and see every replica ready; what they have in flight is the test's."""

    def __init__(self) -> None:
        self.replicas: tuple[Replica, ...] = ()
        self.demand = DemandSeen()
        self.in_flight: dict[str, int] = {}
        self.version = 0

    def publish(self, _: Settings, replicas: tuple[Replica, ...]) -> int:
        self.replicas = replicas
        self.version += 1
        return self.version

    async def wait_idle(self, replica: ReplicaId, _: int, __: float) -> bool:
        return not self.in_flight.get(replica)

    def views(self) -> tuple[WorkerView, ...]:
        return (view(*self.replicas, demand=self.demand, in_flight=self.in_flight),)

    def came(self, requests: int, *, late: int = 0, prompt_tokens: int = 0, output_tokens: int = 0) -> None:
        """So many more have come and ended."""
        known = self.demand
        self.demand = structs.replace(
            known,
            ended=known.ended + requests,
            late=known.late + late,
            prompt_tokens=known.prompt_tokens + prompt_tokens * requests,
            output_tokens=known.output_tokens + output_tokens * requests,
        )


class DrivenBench:
    """All of it together, with a clock that a test moves."""

    def __init__(
        self,
        *,
        mode: str = "act",
        first: int = 1,
        driven_maximum: int | None = 8,
        driver: ScriptedFleetDriver | None = None,
        **table: float,
    ) -> None:
        """`driver` is one that another gateway's bench has, too."""
        self.now_s = 1_000_000.0
        self.workers = SeeingWorkers()
        self.wakes: dict[str, Wake] = {}
        self.driver = driver or ScriptedFleetDriver(
            {CHAT: first}, replica_of, start_s=30.0, maximum=driven_maximum, clock=lambda: self.now_s
        )
        autoscaling = {"minimum": 1, "maximum": 6, "requests_per_s": 1.0, "cold_start_s": 30.0, **table}
        self.settings = Settings(
            autoscaling=ScalingSettings(mode=cast(Any, mode), interval_s=10, forecasts=False),
            pools={"chat": PoolSettings(model=MODEL, command=("x", "{port}"), autoscaling=autoscaling)},
        )
        fleet = ManagedFleet(self.settings, [], cast(Workers, self.workers))
        self.driven = DrivenFleet(fleet, [self.driver])
        self.fleet = ScaledFleet(
            driven=self.driven,
            replicas=lambda: ordered(fleet.replicas),
            views=self.workers.views,
            take_wakes=self.wakes.update,
        )

    @property
    def takeable(self) -> set[ReplicaId]:
        """Replicas that workers may give requests."""
        return {one.id for one in self.workers.replicas if not one.is_draining}
