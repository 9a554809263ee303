"""What the admin API says of pools that grow and shrink by themselves."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.planning.scaling.action import ActionKind, ScalingReason


class StepRow(Struct, frozen=True, kw_only=True):
    """One step that was decided, and what became of it."""

    kind: ActionKind
    pool: PoolName | None = None  # None: of the whole model, as a hold is
    count: int = 0
    replicas: tuple[ReplicaId, ...] = ()
    reason: ScalingReason
    because: str
    otherwise: str = ""  # what would happen without it
    outcome: str = ""  # why it was not carried out; empty: it was, or there was nothing to carry out


class DecisionRow(Struct, frozen=True, kw_only=True):
    """One look that decided something else than the one before."""

    at: float  # seconds since the epoch
    model: str
    is_dry_run: bool
    needed: float  # usual requests a second
    carried: float  # by the replicas that are there or coming
    steps: tuple[StepRow, ...]


class ShortCause(StrEnum):
    """What stands between a model and the replicas that it needs."""

    MODE = "mode"  # decisions are only said
    PAUSED = "paused"
    OTHER_SCALER = "other-scaler"
    GATEWAY = "gateway"  # another one acts, or it is not known which
    DRIVER = "driver"  # nobody starts replicas, or it refuses or does not answer
    QUOTA = "quota"  # the driver's bound
    BUDGET = "budget"
    MAXIMUM = "maximum"
    NEXT_LOOK = "next-look"  # nothing: they are asked for then


class ShortRow(Struct, frozen=True, kw_only=True):
    """What a model is short of, why, and what would mend it."""

    requests_per_s: float  # usual ones that are needed and not carried
    cause: ShortCause
    because: str
    mend: str = ""  # empty: nothing has to be done


class PoolNowRow(Struct, frozen=True, kw_only=True):
    """One pool now."""

    pool: PoolName
    driver: str | None  # who starts its replicas; None: nobody, so decisions are only said
    minimum: int
    maximum: int
    wanted: int
    ready: int
    warming: int
    draining: int
    cold_start_s: float  # the usual one
    cold_starts: int  # that were measured
    problem: str | None = None  # why it is not as it should be
    away_s: float | None = None  # for so long its driver has not answered; None: it does


class ModelNowRow(Struct, frozen=True, kw_only=True):
    """One model now."""

    model: str
    is_paused: bool
    needed: float
    carried: float
    most: float  # that would be carried by all replicas that limits allow
    short: ShortRow | None = None  # None: enough is there or coming, or asked for next
    held: int = 0  # requests that wait for a first replica
    told_wait_s: float | None = None  # what one that comes now would be told; None: a replica is ready
    yields: str | None = None  # to which other scaler; None: to none
    pools: tuple[PoolNowRow, ...]


class ScalingPage(Struct, frozen=True, kw_only=True):
    """All of it, the latest decisions first."""

    mode: str
    leader: str | None = None  # the gateway that acts for all; None: none does, or it is not known which
    apart: str = ""  # why it is not known what other gateways see; empty: it is
    models: tuple[ModelNowRow, ...]
    decisions: tuple[DecisionRow, ...]


class Paused(Struct, frozen=True, kw_only=True):
    """Which models are paused after a change."""

    paused: tuple[str, ...]
