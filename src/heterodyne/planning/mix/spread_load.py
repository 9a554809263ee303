"""Who serves what on replicas that are there: dealt out so that the busiest kind is as idle as it can be."""

from msgspec import structs

from heterodyne.planning.mix.assignment import assign
from heterodyne.planning.mix.interruptions import hourly_usd
from heterodyne.planning.mix.milp import Milp
from heterodyne.planning.mix.problem import MixPlan, MixProblem, ReplicaKind

TIME_LIMIT_S = 10.0
SHARE_MIN = 1e-6  # below this a share is the solver's rounding


def with_replicas(problem: MixProblem, plan: MixPlan, replicas: dict[str, int]) -> MixPlan:
    """The plan with other numbers of its kinds; its shares are dealt out anew."""
    kinds = {kind.name: kind for kind in problem.kinds}
    shares = _shares(problem, replicas)
    busy = {name: _load(kinds[name], problem, shares) / count for name, count in replicas.items()}
    usd_per_hour = hourly_usd(kinds, replicas)
    return structs.replace(plan, replicas=replicas, shares=shares, utilisation=busy, usd_per_hour=usd_per_hour)


def _shares(problem: MixProblem, replicas: dict[str, int]) -> dict[str, dict[str, float]]:
    """`counts` stand for the replicas times how busy the busiest kind is, which is the one thing that costs."""
    milp = Milp()
    here = structs.replace(problem, kinds=tuple(kind for kind in problem.kinds if kind.name in replicas))
    busiest = milp.continuous(1.0, 0.0, 1e9)
    counts = {kind.name: milp.continuous(0.0, 0.0, 1e12) for kind in here.kinds}
    for name, column in counts.items():
        milp.exactly({column: 1.0, busiest: -float(replicas[name])}, 0.0)
    columns = assign(milp, here, here.buckets, counts, usable=1.0)
    solution = milp.solve(TIME_LIMIT_S)
    shares: dict[str, dict[str, float]] = {bucket.name: {} for bucket in problem.buckets}
    if solution is not None:
        for (bucket, name), column in columns.items():
            if solution.values[column] > SHARE_MIN:
                shares[bucket][name] = solution.values[column]
    return shares


def _load(kind: ReplicaKind, problem: MixProblem, shares: dict[str, dict[str, float]]) -> float:
    """Replicas that the kind's part keeps busy."""
    return sum(
        shares[bucket.name].get(kind.name, 0.0) * bucket.requests_per_s / kind.requests_per_s[bucket.name]
        for bucket in problem.buckets
        if kind.requests_per_s.get(bucket.name)
    )
