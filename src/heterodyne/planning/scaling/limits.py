"""What an operator allows a model's pools, and what they cost."""

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import PoolName
from heterodyne.planning.scaling.capacity import CapacityCurve


class PoolLimits(Struct, frozen=True, kw_only=True):
    """One pool: how many replicas it may have, and what each is worth."""

    pool: PoolName
    capacity: CapacityCurve
    minimum: int = 1
    maximum: int = 16
    usd_per_hour: float = 0.0  # of one replica
    cold_start_s: float = 120.0  # until some have been measured
    loss_per_hour: float = 0.0  # the chance that a replica on spot capacity is taken away within an hour

    def __post_init__(self) -> None:
        if not 0 <= self.minimum <= self.maximum:
            raise InvalidSpec(
                f"pool {self.pool}: a minimum of {self.minimum} and a maximum of {self.maximum}; give 0 or more, the "
                "minimum first"
            )


class ScalingRules(Struct, frozen=True, kw_only=True):
    """One model: its pools, its promise and its purse."""

    pools: tuple[PoolLimits, ...]
    share: float = 0.99  # of requests that are promised their SLO
    spare: int = 0  # replicas beyond what demand needs
    headroom: float = 0.0  # of demand, beyond what it needs
    budget_usd_per_hour: float | None = None  # None: no limit
    idle_s: float = 900.0  # without a request, before a pool that may be empty is emptied
    forecasts: bool = True  # whether the time of day sets a floor

    def limits(self, pool: PoolName) -> PoolLimits:
        """Of one pool."""
        return next(one for one in self.pools if one.pool == pool)

    def with_headroom(self, requests_per_s: float) -> float:
        """What replicas are to carry where so much is needed."""
        return requests_per_s * (1.0 + self.headroom)
