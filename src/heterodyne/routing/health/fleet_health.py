"""Every replica's health, kept while the replica is in the fleet; the few calls that the router and gateway make.

    fleet.publish(snapshot, now_s)                 whenever the control loop does
    fleet.usable(model, now_s)                     before a decision
    fleet.prefill_out(model, now_s, chance)        the same, of those that compute prompts for others
    fleet.of(replica_id)                           for the events of one attempt; keep it until the attempt ends
    fleet.try_retry(model, prompt_tokens, now_s)   before an attempt is repeated elsewhere
    fleet.try_hedge(model)                         when `of(...).hedge_after_s` has passed without a first token

Time comes in and never runs backwards.
"""

from collections.abc import Callable, Mapping, Sequence

from heterodyne.domain.fleet import FleetSnapshot, Health, PoolName, Replica, ReplicaId
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.routing.health.model_health import ModelHealth
from heterodyne.routing.health.outlier import OutlierPool
from heterodyne.routing.health.prefill_health import PrefillHealth
from heterodyne.routing.health.replica_health import UNBOUNDED, Group, ReplicaHealth
from heterodyne.routing.health.snapshot import FleetHealthSnapshot
from heterodyne.routing.routing_request import NONE_OUT
from heterodyne.routing.settings import RoutingSettings


class FleetHealth:
    """One per worker. Never larger than the latest snapshot it was given."""

    __slots__ = ("_fleet", "_models", "_pools", "_prefill", "_replica_health", "_settings", "_unseen")

    def __init__(self, settings: RoutingSettings, fleet: FleetSnapshot, now_s: float) -> None:
        self._settings = settings
        self._fleet: dict[ReplicaId, Replica] = {}
        self._replica_health: dict[ReplicaId, ReplicaHealth] = {}
        self._pools: dict[PoolName, OutlierPool] = {}
        self._models: dict[str, ModelHealth] = {}
        self._prefill: dict[str, PrefillHealth] = {}  # by model, those that compute its prompts for others
        self._unseen: set[ReplicaId] = set()  # of the first fleet, until their first look
        self.publish(fleet, now_s)

    def publish(self, fleet: FleetSnapshot, now_s: float) -> None:
        """Take in replicas that are new, forget those that are gone, notice those that have come back."""
        before, self._fleet = self._fleet, {replica.id: replica for replica in fleet.replicas}
        if not before:
            self._unseen = {replica.id for replica in fleet.replicas if replica.health is Health.STARTING}
        for known in before.values():
            now = self._fleet.get(known.id)
            if now is None or (now.pool, now.model, now.role) != (known.pool, known.model, known.role):
                self._forget(known.id, now_s)
        for replica in fleet.replicas:
            was = before.get(replica.id)
            replica_health = self._replica_health.get(replica.id) or self._welcome(replica)
            replica_health.allow(UNBOUNDED if replica.in_flight_max is None else replica.in_flight_max)
            is_up = replica.health is Health.READY and (was is None or was.health is not Health.READY)
            # One that our first look finds ready was up before us: it has not just come back.
            if is_up and before and replica.id not in self._unseen:
                replica_health.on_recovered(now_s)
            if replica.health is not Health.STARTING:
                self._unseen.discard(replica.id)
        pools = {replica.pool for replica in fleet.replicas}
        self._pools = {name: pool for name, pool in self._pools.items() if name in pools}
        # Replicas report to the group of their model, also while its rule lets it have none of them.
        models = {replica.model for replica in fleet.replicas}
        self._models = {model: health for model, health in self._models.items() if model in models}
        for model, health in self._models.items():
            health.publish([(one, self._replica_health[one.id]) for one in fleet.by_model.get(model, ())])
        self._prefill = {model: health for model, health in self._prefill.items() if model in models}
        for model, group in self._prefill.items():
            group.publish([self._replica_health[one.id] for one in fleet.prefill.get(model, ())])

    def usable(self, model: str, now_s: float) -> Sequence[Replica]:
        """The replicas of the model that may take a request now, in the order of the fleet."""
        model_health = self._models.get(model)
        return model_health.usable(now_s) if model_health is not None else ()

    def prefill_out(self, model: str, now_s: float, chance: Callable[[], float]) -> frozenset[ReplicaId]:
        """The replicas that compute the model's prompts for others, and may not be asked for one now."""
        prefill = self._prefill.get(model)
        return NONE_OUT if prefill is None else prefill.out(now_s, chance)

    def try_model(self, model: str) -> ModelHealth | None:
        """The health of a model's replicas together; None where no replica serves it."""
        return self._models.get(model)

    def of(self, replica: ReplicaId) -> ReplicaHealth:
        """The health of a replica of the latest snapshot."""
        return self._replica_health[replica]

    def try_retry(self, model: str, tokens: int, now_s: float) -> bool:
        """Whether a request of this many prompt tokens may be sent to another replica."""
        model_health = self._models.get(model)
        return model_health is not None and model_health.retry_budget.try_spend(tokens, now_s)

    def try_hedge(self, model: str) -> bool:
        """Whether a request that waits for its first token may be sent to a second replica."""
        model_health = self._models.get(model)
        return model_health is not None and model_health.hedge_budget.try_spend()

    def on_probe(self, replica: ReplicaId, now_s: float) -> None:
        """A health probe found the replica ready."""
        replica_health = self._replica_health.get(replica)
        if replica_health is not None:
            replica_health.on_probe(now_s)

    def on_failed_probe(self, replica: ReplicaId) -> None:
        """A health probe found the replica not ready: when it is, it has just come up."""
        self._unseen.discard(replica)

    def own_ejections(self, now_s: float) -> dict[ReplicaId, float]:
        """Replicas that this worker leaves out by what it has seen itself, and for how many seconds more."""
        left = {replica: health.own_ejection_s(now_s) for replica, health in self._replica_health.items()}
        return {replica: left_s for replica, left_s in left.items() if left_s}

    def hear_ejections(self, untils: Mapping[ReplicaId, float], now_s: float) -> None:
        """All that other workers leave out, and until when; it takes the place of what was heard before."""
        for replica, health in self._replica_health.items():
            health.hear_ejection(untils.get(replica, now_s), now_s)

    @property
    def in_flight(self) -> int:
        """Attempts that have started and not ended, on all replicas."""
        return sum(replica_health.in_flight for replica_health in self._replica_health.values())

    def snapshot(self, now_s: float) -> FleetHealthSnapshot:
        """The health of all of them now."""
        return FleetHealthSnapshot(
            models=tuple(health.snapshot(model, now_s) for model, health in self._models.items()),
            replicas=tuple(replica_health.snapshot(now_s) for replica_health in self._replica_health.values()),
            ejections_refused={name: pool.refused for name, pool in self._pools.items()},
        )

    def _welcome(self, replica: Replica) -> ReplicaHealth:
        is_prefill = replica.role is ReplicaRole.PREFILL
        if replica.pool not in self._pools:
            self._pools[replica.pool] = OutlierPool(self._settings, may_be_empty=is_prefill)
        group: Group
        if is_prefill:
            group = self._prefill.setdefault(replica.model, PrefillHealth())
        elif replica.model in self._models:
            group = self._models[replica.model]
        else:
            group = self._models[replica.model] = ModelHealth(self._settings)
        replica_health = ReplicaHealth(replica.id, self._settings, self._pools[replica.pool], group)
        self._replica_health[replica.id] = replica_health
        return replica_health

    def _forget(self, replica: ReplicaId, now_s: float) -> None:
        self._unseen.discard(replica)
        replica_health = self._replica_health.pop(replica)
        replica_health.leave(now_s, OutlierPool(self._settings), ModelHealth(self._settings))
