"""Every replica's standing, kept while the replica is in the fleet; the few calls that the router and gateway make.

    fleet.publish(snapshot, now_s)                 whenever the control loop does
    fleet.usable(model, now_s)                     before a decision
    fleet.of(replica_id)                           for the events of one attempt; keep it until the attempt ends
    fleet.try_retry(model, prompt_tokens, now_s)   before an attempt is repeated elsewhere
    fleet.try_hedge(model)                         when `of(...).hedge_after_s` has passed without a first token

Time comes in and never runs backwards.
"""

from collections.abc import Sequence

from heterodyne.domain.fleet import FleetSnapshot, Health, PoolName, Replica, ReplicaId
from heterodyne.routing.settings import RoutingSettings
from heterodyne.routing.standing.model_standing import ModelStanding
from heterodyne.routing.standing.outlier import OutlierPool
from heterodyne.routing.standing.replica_standing import UNBOUNDED, ReplicaStanding
from heterodyne.routing.standing.snapshot import FleetStandingSnapshot


class FleetStanding:
    """One per worker. Never larger than the latest snapshot it was given."""

    __slots__ = ("_fleet", "_models", "_pools", "_settings", "_standings")

    def __init__(self, settings: RoutingSettings, fleet: FleetSnapshot, now_s: float) -> None:
        self._settings = settings
        self._fleet: dict[ReplicaId, Replica] = {}
        self._standings: dict[ReplicaId, ReplicaStanding] = {}
        self._pools: dict[PoolName, OutlierPool] = {}
        self._models: dict[str, ModelStanding] = {}
        self.publish(fleet, now_s)

    def publish(self, fleet: FleetSnapshot, now_s: float) -> None:
        """Welcome who is new, forget who is gone, notice who has come back."""
        before, self._fleet = self._fleet, {replica.id: replica for replica in fleet.replicas}
        for known in before.values():
            now = self._fleet.get(known.id)
            if now is None or (now.pool, now.model) != (known.pool, known.model):
                self._forget(known.id, now_s)
        for replica in fleet.replicas:
            was = before.get(replica.id)
            standing = self._standings.get(replica.id) or self._welcome(replica)
            standing.allow(UNBOUNDED if replica.in_flight_max is None else replica.in_flight_max)
            # Whoever is ready when we start has not just come back.
            if before and replica.health is Health.READY and (was is None or was.health is not Health.READY):
                standing.on_recovered(now_s)
        pools = {replica.pool for replica in fleet.replicas}
        self._pools = {name: pool for name, pool in self._pools.items() if name in pools}
        self._models = {model: self._models[model] for model in fleet.by_model}
        for model, replicas in fleet.by_model.items():
            self._models[model].publish([(replica, self._standings[replica.id]) for replica in replicas])

    def usable(self, model: str, now_s: float) -> Sequence[Replica]:
        """The replicas of the model that may take a request now, in the order of the fleet."""
        standing = self._models.get(model)
        return standing.usable(now_s) if standing is not None else ()

    def try_model(self, model: str) -> ModelStanding | None:
        """The standing of a model's replicas together; None where nobody serves it."""
        return self._models.get(model)

    def of(self, replica: ReplicaId) -> ReplicaStanding:
        """The standing of a replica of the latest snapshot."""
        return self._standings[replica]

    def try_retry(self, model: str, tokens: int, now_s: float) -> bool:
        """Whether a request of this many prompt tokens may be sent to another replica."""
        standing = self._models.get(model)
        return standing is not None and standing.retry_budget.try_spend(tokens, now_s)

    def try_hedge(self, model: str) -> bool:
        """Whether a request that waits for its first token may be sent to a second replica."""
        standing = self._models.get(model)
        return standing is not None and standing.hedge_budget.try_spend()

    def on_probe(self, replica: ReplicaId, now_s: float) -> None:
        """A health probe found the replica ready."""
        standing = self._standings.get(replica)
        if standing is not None:
            standing.on_probe(now_s)

    @property
    def in_flight(self) -> int:
        """Attempts that have started and not ended, on all replicas."""
        return sum(standing.in_flight for standing in self._standings.values())

    def snapshot(self, now_s: float) -> FleetStandingSnapshot:
        """How everybody stands now."""
        return FleetStandingSnapshot(
            models=tuple(standing.snapshot(model, now_s) for model, standing in self._models.items()),
            replicas=tuple(standing.snapshot(now_s) for standing in self._standings.values()),
            ejections_refused={name: pool.refused for name, pool in self._pools.items()},
        )

    def _welcome(self, replica: Replica) -> ReplicaStanding:
        if replica.pool not in self._pools:
            self._pools[replica.pool] = OutlierPool(self._settings)
        if replica.model not in self._models:
            self._models[replica.model] = ModelStanding(self._settings)
        standing = ReplicaStanding(replica.id, self._settings, self._pools[replica.pool], self._models[replica.model])
        self._standings[replica.id] = standing
        return standing

    def _forget(self, replica: ReplicaId, now_s: float) -> None:
        standing = self._standings.pop(replica)
        standing.leave(now_s, OutlierPool(self._settings), ModelStanding(self._settings))
