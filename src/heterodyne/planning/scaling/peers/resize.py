"""From a wanted number of replicas to actions; all peers want a number and nothing else."""

from msgspec import Struct

from heterodyne.domain.fleet import PoolName
from heterodyne.domain.replica_stage import PROVIDED
from heterodyne.planning.scaling.action import ActionKind, ScalingAction, ScalingReason
from heterodyne.planning.scaling.hardware_choice import given_up
from heterodyne.planning.scaling.observation import Observation


class PeerBounds(Struct, frozen=True, kw_only=True):
    """The one pool that a peer knows."""

    pool: PoolName
    minimum: int = 1
    maximum: int = 64


def resized(seen: Observation, bounds: PeerBounds, wanted: int, because: str) -> tuple[ScalingAction, ...]:
    """Empty: it has that many."""
    pool = seen.pool(bounds.pool)
    current = pool.count(*PROVIDED)
    wanted = min(bounds.maximum, max(bounds.minimum, wanted))
    if wanted == current:
        return ()
    if wanted > current:
        add = ScalingAction(
            kind=ActionKind.ADD,
            pool=bounds.pool,
            count=wanted - current,
            reason=ScalingReason.DEMAND,
            because=because,
        )
        return (add,)
    drain = ScalingAction(
        kind=ActionKind.DRAIN,
        pool=bounds.pool,
        replicas=given_up(pool, current - wanted),
        reason=ScalingReason.SPARE_CAPACITY,
        because=because,
    )
    return (drain,)
