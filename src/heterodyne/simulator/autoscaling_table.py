"""What a fleet file says of a pool that may grow and shrink, as the autoscaler knows it."""

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import PoolName
from heterodyne.fleet.pool_scaling import PoolScaling
from heterodyne.planning.scaling.capacity import CapacityCurve
from heterodyne.planning.scaling.limits import PoolLimits


def pool_limits(table: PoolScaling, pool: str, capacity: CapacityCurve, usd_per_hour: float) -> PoolLimits:
    """Of one pool, with the capacity that was found for it."""
    if table.minimum > table.maximum:
        raise InvalidSpec(f"pools.{pool}.autoscaling: minimum {table.minimum} is more than maximum {table.maximum}")
    return PoolLimits(
        pool=PoolName(pool),
        capacity=capacity,
        minimum=table.minimum,
        maximum=table.maximum,
        usd_per_hour=usd_per_hour,
        cold_start_s=table.cold_start_s,
        loss_per_hour=table.loss_per_hour,
    )
