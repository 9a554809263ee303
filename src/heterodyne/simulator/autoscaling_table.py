"""What a fleet file says of a pool that may grow and shrink: its `autoscaling` table."""

from typing import Annotated

from msgspec import Meta, Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import PoolName
from heterodyne.planning.scaling.capacity import CapacityCurve
from heterodyne.planning.scaling.limits import PoolLimits

Count = Annotated[int, Meta(ge=0, le=256)]


class AutoscalingTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One pool's; without it the pool keeps its replicas."""

    minimum: Count = 1  # 0: requests are held while one starts
    maximum: Annotated[int, Meta(ge=1, le=256)] = 16
    cold_start_s: Annotated[float, Meta(gt=0)] = 120.0  # from asking for a replica to its first request
    cold_start_spread: Annotated[float, Meta(ge=0, le=1)] = 0.1  # of its logarithm
    loss_per_hour: Annotated[float, Meta(ge=0, lt=1)] = 0.0  # the chance that a spot replica is taken away

    def limits(self, pool: str, capacity: CapacityCurve, usd_per_hour: float) -> PoolLimits:
        """As the autoscaler knows it."""
        if self.minimum > self.maximum:
            raise InvalidSpec(f"pools.{pool}.autoscaling: minimum {self.minimum} is more than maximum {self.maximum}")
        return PoolLimits(
            pool=PoolName(pool),
            capacity=capacity,
            minimum=self.minimum,
            maximum=self.maximum,
            usd_per_hour=usd_per_hour,
            cold_start_s=self.cold_start_s,
            loss_per_hour=self.loss_per_hour,
        )
