"""The cheapest mix of replica kinds for a traffic histogram, as a mixed-integer programme.

Shares of a bucket are continuous and replica counts whole, so the problem stays small: twelve integers for twelve
kinds, however many buckets there are. The loss of a replica is a second assignment of the critical buckets.
"""

from math import ceil

from msgspec import structs

from heterodyne.domain.errors import PlanImpossible
from heterodyne.planning.mix_checks import check
from heterodyne.planning.mix_problem import MixPlan, MixProblem, ReplicaKind, TrafficBucket
from heterodyne.planning.programme import Programme
from heterodyne.planning.single_kind import can_serve, load_on, single_kind_replicas

TIME_LIMIT_S = 30.0
SHARE_MIN = 1e-6  # below this a share is the solver's rounding

Counts = dict[str, int]  # kind: column of its number of replicas
Shares = dict[tuple[str, str], int]  # bucket and kind: column of the share


def cheapest_mix(problem: MixProblem) -> MixPlan:
    """Solve, or say which promise cannot be kept."""
    check(problem)
    plan = _solve(problem)
    if plan is None:
        raise PlanImpossible(_why_impossible(problem))
    return plan


def _solve(problem: MixProblem) -> MixPlan | None:
    """Losses are guarded against only where the optimum so far would not survive one.

    Leaving a promise out can only make a plan cheaper, so the first optimum that keeps them all is the optimum.
    """
    guarded: frozenset[str] = frozenset()
    while True:
        programme, counts, shares = _formulate(problem, guarded)
        values = programme.solve(TIME_LIMIT_S)
        if values is None:
            return None
        plan = _plan(problem, values, counts, shares)
        fatal = frozenset(name for name in plan.replicas if not _survives(problem, plan.replicas, name)) - guarded
        if not fatal:
            return plan
        guarded |= fatal


def _formulate(problem: MixProblem, guarded: frozenset[str]) -> tuple[Programme, Counts, Shares]:
    programme = Programme()
    counts = {
        kind.name: programme.integer(kind.usd_per_hour, kind.minimum, _most(problem, kind)) for kind in problem.kinds
    }
    shares = _assign(programme, problem, problem.buckets, counts, usable=1.0 - problem.headroom)
    if problem.spot_share_max < 1.0:
        row = {counts[kind.name]: kind.is_spot - problem.spot_share_max for kind in problem.kinds}
        programme.at_most(row, 0.0)
    for kind in problem.kinds:
        if kind.name in guarded:
            is_used = programme.integer(0.0, 0, 1)
            programme.at_most({counts[kind.name]: 1.0, is_used: -float(_most(problem, kind))}, 0.0)
            _assign(programme, problem, _critical(problem), counts, usable=1.0, lost=(kind.name, is_used))
    return programme, counts, shares


def _survives(problem: MixProblem, replicas: dict[str, int], lost: str) -> bool:
    """Whether the critical buckets still fit when one replica of a kind is gone."""
    critical = _critical(problem)
    if not problem.survives_one_loss or not critical:
        return True
    programme = Programme()
    left = {kind.name: replicas.get(kind.name, 0) - (kind.name == lost) for kind in problem.kinds}
    counts = {name: programme.continuous(0.0, 0.0, float(count)) for name, count in left.items()}
    _assign(programme, problem, critical, counts, usable=1.0)
    return programme.solve(TIME_LIMIT_S) is not None


def _critical(problem: MixProblem) -> tuple[TrafficBucket, ...]:
    return tuple(bucket for bucket in problem.buckets if bucket.is_critical)


def _assign(
    programme: Programme,
    problem: MixProblem,
    buckets: tuple[TrafficBucket, ...],
    counts: Counts,
    *,
    usable: float,  # share of a replica that may be busy
    lost: tuple[str, int] | None = None,  # a kind, and the column that says whether it loses one
) -> Shares:
    """Every bucket is served in full, and no kind does more than its replicas can."""
    shares: Shares = {}
    for bucket in buckets:
        able = [kind for kind in problem.kinds if can_serve(kind, bucket)]
        shares |= {(bucket.name, kind.name): programme.continuous(0.0, 0.0, 1.0) for kind in able}
        programme.exactly({shares[bucket.name, kind.name]: 1.0 for kind in able}, 1.0)
    for kind in problem.kinds:
        row = {
            shares[bucket.name, kind.name]: bucket.requests_per_s / kind.requests_per_s[bucket.name]
            for bucket in buckets
            if can_serve(kind, bucket)
        }
        if row:
            row[counts[kind.name]] = -usable
            if lost is not None and lost[0] == kind.name:
                row[lost[1]] = usable
            programme.at_most(row, 0.0)
    return shares


def _most(problem: MixProblem, kind: ReplicaKind) -> int:
    """More replicas than this of one kind never help, except to thin out spot capacity."""
    loads = [load_on(each, problem.buckets) for each in problem.kinds]
    enough = ceil(load_on(kind, problem.buckets) / (1.0 - problem.headroom)) + 1
    if problem.spot_share_max < 1.0:
        enough = max(enough, ceil(sum(loads) / (1.0 - problem.headroom)) + len(loads))
    enough = max(enough, kind.minimum)
    return enough if kind.available is None else min(enough, kind.available)


def _plan(problem: MixProblem, values: list[float], counts: Counts, shares: Shares) -> MixPlan:
    kinds = {kind.name: kind for kind in problem.kinds}
    rates = {bucket.name: bucket.requests_per_s for bucket in problem.buckets}
    replicas = {name: round(values[column]) for name, column in counts.items() if round(values[column])}
    busy = dict.fromkeys(replicas, 0.0)
    by_bucket: dict[str, dict[str, float]] = {name: {} for name in rates}
    for (bucket, name), column in shares.items():
        if values[column] > SHARE_MIN and name in busy:
            by_bucket[bucket][name] = values[column]
            busy[name] += values[column] * rates[bucket] / kinds[name].requests_per_s[bucket]
    alone = {kind.name: single_kind_replicas(problem, kind) for kind in problem.kinds}
    return MixPlan(
        replicas=replicas,
        shares=by_bucket,
        utilisation={name: busy[name] / count for name, count in replicas.items()},
        usd_per_hour=sum(kinds[name].usd_per_hour * count for name, count in replicas.items()),
        single_kind_usd_per_hour={
            name: kinds[name].usd_per_hour * count for name, count in alone.items() if count is not None
        },
    )


def _why_impossible(problem: MixProblem) -> str:
    """Which promise binds: relax them one by one and see with which a mix appears."""
    plenty = tuple(structs.replace(kind, available=None) for kind in problem.kinds)
    relaxed = {
        "the limits on availability": structs.replace(problem, kinds=plenty),
        "the limit on spot capacity": structs.replace(problem, spot_share_max=1.0),
        "surviving the loss of a replica": structs.replace(problem, survives_one_loss=False),
    }
    binding = [promise for promise, easier in relaxed.items() if easier != problem and _solve(easier) is not None]
    if binding:
        return f"No mix keeps every promise; there is one without {', or without '.join(binding)}."
    return "No mix keeps every promise, and giving up one of them is not enough; offer more or faster kinds."
