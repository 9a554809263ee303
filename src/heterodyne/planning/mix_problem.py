"""What the cheapest mix is asked about: traffic in buckets, kinds of replicas, and the promises to keep."""

from msgspec import Struct


class TrafficBucket(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Requests that are alike: similar lengths, one service level."""

    name: str
    requests_per_s: float
    is_critical: bool = False  # must survive the loss of a replica, and never runs on spot capacity


class ReplicaKind(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way to run a replica: chips, parallelism, engine, price."""

    name: str
    usd_per_hour: float
    requests_per_s: dict[str, float]  # by bucket, within its service level; absent or 0: it cannot keep it
    available: int | None = None  # None: as many as wanted
    minimum: int = 0
    is_spot: bool = False


class MixProblem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole question."""

    buckets: tuple[TrafficBucket, ...]
    kinds: tuple[ReplicaKind, ...]
    headroom: float = 0.1  # share of every replica left free
    spot_share_max: float = 1.0  # of all replicas
    survives_one_loss: bool = False  # critical load still fits after any one replica is gone


class MixPlan(Struct, frozen=True, kw_only=True):
    """The answer."""

    replicas: dict[str, int]  # by kind, those with at least one
    shares: dict[str, dict[str, float]]  # of each bucket, by kind
    utilisation: dict[str, float]  # of the used kinds, headroom not deducted
    usd_per_hour: float
    single_kind_usd_per_hour: dict[str, float]  # what each kind alone would cost, where it can do it at all
