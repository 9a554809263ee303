"""What one kind of replica would cost if it did everything alone: the plan a mix has to beat."""

from math import ceil

from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind, Stock, TrafficBucket

TOLERANCE = 1e-9


def can_serve(kind: ReplicaKind, bucket: TrafficBucket) -> bool:
    """Whether the kind keeps the bucket's service level in its role, and may."""
    return kind.requests_per_s.get(bucket.name, 0.0) > 0 and not (kind.is_spot and bucket.is_critical)


def load_on(kind: ReplicaKind, buckets: tuple[TrafficBucket, ...]) -> float:
    """Replicas of the kind, fractions included, that those of the buckets keep busy that it can serve."""
    return sum(b.requests_per_s / kind.requests_per_s[b.name] for b in buckets if can_serve(kind, b))


def single_kind_replicas(problem: MixProblem, kind: ReplicaKind) -> int | None:
    """Replicas of one kind that do it all alone; None when they cannot or may not."""
    if kind.role is not ReplicaRole.BOTH or not all(can_serve(kind, bucket) for bucket in problem.buckets):
        return None
    stock = next((one for one in problem.stocks if one.name == kind.stock), Stock(name=kind.name))
    count = max(kind.minimum, ceil(stock.minimum / kind.chips))
    count = max(count, ceil(load_on(kind, problem.buckets) / (1.0 - problem.headroom) - TOLERANCE))
    critical = tuple(bucket for bucket in problem.buckets if bucket.is_critical)
    if problem.survives_one_loss and critical:
        count = max(count, ceil(load_on(kind, critical) - TOLERANCE) + 1)
    is_too_many = kind.available is not None and count > kind.available
    is_out_of_stock = stock.available is not None and count * kind.chips > stock.available
    is_too_much_spot = kind.is_spot and problem.spot_share_max < 1.0
    are_others_wanted = any(other.minimum for other in problem.kinds if other.name != kind.name) or any(
        other.minimum for other in problem.stocks if other.name != kind.stock
    )
    return None if is_too_many or is_out_of_stock or is_too_much_spot or are_others_wanted else count
