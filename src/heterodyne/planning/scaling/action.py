"""What an autoscaler decides: one action for each pool that is to change, each with its reason."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.fleet import PoolName, ReplicaId


class ActionKind(StrEnum):
    """What is to be done."""

    ADD = "add"
    DRAIN = "drain"
    KEEP = "keep"  # a replica that drains takes work again
    HOLD = "hold"


class ScalingReason(StrEnum):
    """Why, as a word to count."""

    DEMAND = "demand"  # what comes now is more than the replicas carry
    TREND = "trend"  # it will be, by the time another one is ready
    FORECAST = "forecast"  # it usually is at this time
    BACKLOG = "backlog"  # what waits has to be worked off
    MISSES = "misses"  # requests are late, whatever the capacity is said to be
    WAKE = "wake"  # requests are held and nothing is ready
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    SPOT_NOTICE = "spot-notice"
    SPARE_CAPACITY = "spare-capacity"  # the promise holds with fewer
    IDLE = "idle"  # nothing has come for a while
    ENOUGH = "enough"
    COOLING_DOWN = "cooling-down"
    TURNED_OFTEN = "turned-often"
    IN_FLIGHT = "in-flight"
    LIMITS = "limits"  # maximum, quota or budget
    UNSEEN = "unseen"  # too little is known


class ScalingAction(Struct, frozen=True, kw_only=True):
    """One step of one pool."""

    kind: ActionKind
    pool: PoolName | None = None  # None: of the whole model, as a hold is
    count: int = 0  # to add
    replicas: tuple[ReplicaId, ...] = ()  # to drain or to keep
    reason: ScalingReason
    because: str  # a sentence
    otherwise: str = ""  # what would happen without it
