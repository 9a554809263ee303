"""A pool in a test's hands: it does what the autoscaler says, but for cold starts."""

from msgspec import structs

from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.planning.scaling.action import ActionKind, ScalingAction
from heterodyne.planning.scaling.autoscaler import ScalingDecision, scale
from heterodyne.planning.scaling.capacity import CapacityCurve
from heterodyne.planning.scaling.limits import PoolLimits, ScalingRules
from heterodyne.planning.scaling.observation import Observation, PoolObservation, ScaledReplica
from heterodyne.planning.scaling.state import ScalingState

POOL = PoolName("l4")
CURVE = CapacityCurve(points=((1, 1.0), (10, 10.0)), prompt_token=0.0, output_token=0.01, output_tokens=100.0)
LOOK_S = 10.0


def scaling_rules(**changed: object) -> ScalingRules:
    """One pool whose replicas carry one request a second each."""
    limits = {"minimum": 1, "maximum": 20, "usd_per_hour": 1.0, "cold_start_s": 60.0}
    of_pool = {name: changed.pop(name) for name in list(changed) if name in PoolLimits.__struct_fields__}
    pool = PoolLimits(pool=POOL, capacity=CURVE, **{**limits, **of_pool})  # type: ignore[arg-type]
    return ScalingRules(pools=(pool,), **changed)  # type: ignore[arg-type]


class ScaledFleet:
    """A pool that does at once what it is told, but for cold starts."""

    def __init__(self, asked: ScalingRules, ready: int, *, cold_start_s: float = 60.0) -> None:
        self.rules = asked
        self.state = ScalingState()
        self.cold_start_s = cold_start_s
        self.now_s = 0.0
        self.replicas = [ScaledReplica(id=ReplicaId(f"r{place}"), stage=ReplicaStage.READY) for place in range(ready)]
        self._named = ready

    def look(self, rate: float, **seen: object) -> ScalingDecision:
        """Ten seconds of requests at this rate, and what is decided then."""
        self.now_s += LOOK_S
        self.replicas = [
            structs.replace(one, stage=ReplicaStage.READY)
            if one.stage is ReplicaStage.WARMING and one.asked_at_s + self.cold_start_s <= self.now_s
            else one
            for one in self.replicas
            if one.stage is not ReplicaStage.DRAINING
        ]
        came = round(rate * LOOK_S)
        decision = scale(
            self.rules,
            self.state,
            Observation(
                at_s=self.now_s,
                span_s=LOOK_S,
                arrivals=came,
                ended=came,
                output_tokens=100 * came,
                pools=(PoolObservation(pool=POOL, replicas=tuple(self.replicas)),),
                **seen,  # type: ignore[arg-type]
            ),
        )
        self.state = decision.state
        for action in decision.actions:
            self._do(action)
        return decision

    def watch(self, rate: float, seconds: float) -> list[ScalingAction]:
        """Everything that is decided in this time, holds left out."""
        looks = (self.look(rate) for _ in range(int(seconds / LOOK_S)))
        return [one for look in looks for one in look.actions if one.kind is not ActionKind.HOLD]

    def _do(self, action: ScalingAction) -> None:
        for _ in range(action.count):
            self.replicas.append(
                ScaledReplica(id=ReplicaId(f"r{self._named}"), stage=ReplicaStage.WARMING, asked_at_s=self.now_s)
            )
            self._named += 1
        stage = ReplicaStage.DRAINING if action.kind is ActionKind.DRAIN else ReplicaStage.READY
        self.replicas = [
            structs.replace(one, stage=stage) if one.id in action.replicas else one for one in self.replicas
        ]

    @property
    def count(self) -> int:
        """Replicas that are there or coming, to stay."""
        return sum(one.stage is not ReplicaStage.DRAINING for one in self.replicas)
