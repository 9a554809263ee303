"""What the cheapest mix is asked about: traffic in buckets, kinds of replicas, and the promises to keep."""

from msgspec import Struct

from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.profile import Basis

HEADROOM = 0.05  # of every replica, unless said otherwise


class TrafficBucket(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Requests that are alike: similar lengths, one service level."""

    name: str
    requests_per_s: float
    is_critical: bool = False  # must survive the loss of a replica, and never runs on spot capacity


class Stock(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Chips that several kinds draw on."""

    name: str
    available: int | None = None  # None: as many as wanted
    minimum: int = 0  # chips that are paid for anyhow


class ReplicaKind(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One way to run a replica: chips, parallelism, engine, price."""

    name: str
    usd_per_hour: float
    requests_per_s: dict[str, float]  # by bucket, within its service level; absent or 0: it cannot keep it
    available: int | None = None  # None: as many as wanted
    minimum: int = 0
    is_spot: bool = False
    role: ReplicaRole = ReplicaRole.BOTH
    handoff: str = ""  # prefill replicas hand keys and values to decode replicas of the same word
    stock: str | None = None  # None: its chips are its own
    chips: int = 1
    rests_on: Basis | None = None  # None: numbers given by the operator
    hardware: str | None = None  # None: not of the catalogue
    engine: EngineKind | None = None
    slowdown: float = 1.0  # times what is predicted, every step
    missing_share: float = 0.0  # of the time that one is taken back and none serves in its place
    seller: str = ""  # whose price it is; empty: nobody's of the catalogue


class MixProblem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole question."""

    buckets: tuple[TrafficBucket, ...]
    kinds: tuple[ReplicaKind, ...]
    stocks: tuple[Stock, ...] = ()
    headroom: float = HEADROOM  # share of every replica left free: days differ
    spot_share_max: float = 1.0  # of every bucket's traffic
    survives_one_loss: bool = False  # critical load still fits after any one replica is gone


class MixPlan(Struct, frozen=True, kw_only=True):
    """The answer."""

    replicas: dict[str, int]  # by kind, those with at least one; spares for what is taken back are beside them
    shares: dict[str, dict[str, float]]  # of each bucket, by kind; prompts and answers apart where roles are
    utilisation: dict[str, float]  # of the used kinds, headroom not deducted
    usd_per_hour: float
    gap: float  # how much cheaper, as a share, a mix might be that the time did not suffice to find or to rule out
    single_kind_usd_per_hour: dict[str, float] = {}  # what each kind alone would cost, where it can do it at all
