"""What an autoscaler sees of one model: what came and what became of it since the last look, and every replica."""

from msgspec import Struct

from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage


class ScaledReplica(Struct, frozen=True, kw_only=True):
    """One replica of a pool."""

    id: ReplicaId
    stage: ReplicaStage
    asked_at_s: float = 0.0  # when it was asked for
    in_flight: int = 0
    sessions: int = 0  # conversations whose cache it holds
    taken_at_s: float | None = None  # when its machine is taken away, by a spot notice; None: it may stay


class PoolObservation(Struct, frozen=True, kw_only=True):
    """One pool, now."""

    pool: PoolName
    replicas: tuple[ScaledReplica, ...] = ()
    cold_starts_s: tuple[float, ...] = ()  # measured since the last look
    failed_starts: int = 0  # since the last look
    busy_share: float = 0.0  # of the time of its ready replicas; no rule of ours goes by it
    kv_share: float = 0.0  # the mean of its ready replicas

    def count(self, *stages: ReplicaStage) -> int:
        """Replicas at these stages."""
        return sum(one.stage in stages for one in self.replicas)


class Observation(Struct, frozen=True, kw_only=True):
    """One model at a moment, with what has happened in the `span_s` before it."""

    at_s: float
    span_s: float
    arrivals: int = 0
    prompt_tokens: int = 0  # of those
    ended: int = 0
    output_tokens: int = 0  # of those that ended
    cached_tokens: int = 0  # of their prompts
    late: int = 0  # of those that ended, outside their SLO
    risk: float = 0.0  # of the arrivals, how many routing expected to be late
    in_flight: int = 0
    waiting: int = 0  # in engines' queues, and held because no replica is ready
    held: int = 0  # of those, because no replica is ready
    pools: tuple[PoolObservation, ...]

    def pool(self, name: PoolName) -> PoolObservation:
        """The one of this name; an empty one where nobody has seen it."""
        return next((one for one in self.pools if one.pool == name), PoolObservation(pool=name))
