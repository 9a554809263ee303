"""Which pool grows and which shrinks: dollars per request that keeps its promise, over the next hour.

A replica that starts slowly keeps fewer promises in that hour; one on spot capacity is taken away now and then.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf

from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.domain.replica_stage import PROVIDED, ReplicaStage
from heterodyne.planning.scaling.cold_start import ColdStarts
from heterodyne.planning.scaling.limits import PoolLimits, ScalingRules
from heterodyne.planning.scaling.observation import PoolObservation, ScaledReplica

HORIZON_S = 3600.0
ORDER = (ReplicaStage.PENDING, ReplicaStage.WARMING, ReplicaStage.READY)  # in which replicas are given up

Counts = Mapping[PoolName, int]


def capacity(rules: ScalingRules, counts: Counts) -> float:
    """Of so many replicas of each pool, spare ones left out of the largest."""
    spare = rules.spare
    most = max(rules.pools, key=lambda one: counts.get(one.pool, 0)).pool
    return sum(
        one.capacity.requests_per_s(counts.get(one.pool, 0) - (spare if one.pool == most else 0)) for one in rules.pools
    )


def usd_per_kept_request(limits: PoolLimits, replicas: int, starts: ColdStarts) -> float:
    """Of one replica more than these."""
    gained = limits.capacity.requests_per_s(replicas + 1) - limits.capacity.requests_per_s(replicas)
    works_s = max(0.0, HORIZON_S - starts.usual_s) * (1.0 - limits.loss_per_hour / 2)
    if gained <= 0 or works_s <= 0:
        return inf
    return limits.usd_per_hour * HORIZON_S / 3600 / (gained * works_s)


def additions(
    rules: ScalingRules, counts: Counts, wanted: float, starts: Mapping[PoolName, ColdStarts]
) -> tuple[dict[PoolName, int], bool]:
    """How many to add to which pools until they carry what is wanted; False: limits are in the way of the rest."""
    more: dict[PoolName, int] = {}
    now = dict(counts)
    while capacity(rules, now) < wanted:
        open_pools = [one for one in rules.pools if _has_room(rules, one, now)]
        if not open_pools:
            return more, False
        best = min(
            open_pools,
            key=lambda one: (
                usd_per_kept_request(one, now.get(one.pool, 0), starts[one.pool]),
                starts[one.pool].usual_s,
            ),
        )
        now[best.pool] = now.get(best.pool, 0) + 1
        more[best.pool] = more.get(best.pool, 0) + 1
    return more, True


def most_carried(rules: ScalingRules, starts: Mapping[PoolName, ColdStarts]) -> float:
    """By all replicas that limits allow."""
    counts = {one.pool: one.minimum for one in rules.pools}
    more, _ = additions(rules, counts, inf, starts)
    return capacity(rules, {pool: count + more.get(pool, 0) for pool, count in counts.items()})


def removals(
    rules: ScalingRules, counts: Counts, wanted: float, starts: Mapping[PoolName, ColdStarts]
) -> dict[PoolName, int]:
    """How many each pool can do without while the rest carries what is wanted; the dearest go first."""
    less: dict[PoolName, int] = {}
    now = dict(counts)
    while sum(now.values()) > 1:
        order = sorted(
            (one for one in rules.pools if now.get(one.pool, 0) > one.minimum),
            key=lambda one: -usd_per_kept_request(one, now[one.pool] - 1, starts[one.pool]),
        )
        for one in order:
            if capacity(rules, {**now, one.pool: now[one.pool] - 1}) >= wanted:
                now[one.pool] -= 1
                less[one.pool] = less.get(one.pool, 0) + 1
                break
        else:
            break
    return less


def given_up(pool: PoolObservation, count: int) -> tuple[ReplicaId, ...]:
    """Those that serve nobody first, then those with the fewest conversations."""
    return tuple(one.id for one in sorted(_staying(pool), key=_cost_of_leaving)[:count])


def _staying(pool: PoolObservation) -> Iterator[ScaledReplica]:
    return (one for one in pool.replicas if one.stage in PROVIDED)


def _cost_of_leaving(replica: ScaledReplica) -> tuple[int, int, int, float]:
    return ORDER.index(replica.stage), replica.sessions, replica.in_flight, -replica.asked_at_s


def _has_room(rules: ScalingRules, limits: PoolLimits, counts: Counts) -> bool:
    if counts.get(limits.pool, 0) >= limits.maximum:
        return False
    if rules.budget_usd_per_hour is None:
        return True
    return usd_per_hour(rules.pools, counts) + limits.usd_per_hour <= rules.budget_usd_per_hour + 1e-9


def usd_per_hour(pools: Sequence[PoolLimits], counts: Counts) -> float:
    """Of all these replicas."""
    return sum(counts.get(one.pool, 0) * one.usd_per_hour for one in pools)
