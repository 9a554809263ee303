"""Narrows a question with many kinds to those that come nearest to being worth their price.

With replicas by the fraction the programme is linear and solved at once, and says of every kind by how much it is too
dear. Only the rounding to whole replicas can make up for that, so those that are far too dear are not asked about.
"""

from math import inf

from msgspec import structs

from heterodyne.planning.mix.assignment import Counts, Shares, assign, draw_on_stocks
from heterodyne.planning.mix.interruptions import serving_usd
from heterodyne.planning.mix.milp import Milp
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind
from heterodyne.planning.mix.single_kind import single_kind_replicas

KINDS_MAX = 30
TIME_LIMIT_S = 30.0


def worthwhile(problem: MixProblem, *, most: int = KINDS_MAX) -> MixProblem:
    """The same question with at most so many kinds, besides those that are wanted anyhow and the best single one."""
    if len(problem.kinds) <= most:
        return problem
    milp = Milp()
    counts = {
        kind.name: milp.continuous(serving_usd(kind), float(kind.minimum), _limit(kind)) for kind in problem.kinds
    }
    shares = assign(milp, problem, problem.buckets, counts, usable=1.0 - problem.headroom)
    draw_on_stocks(milp, problem, counts)
    reduced = milp.reduced_costs(TIME_LIMIT_S)
    if reduced is None:
        return problem  # it has no answer, and the whole question says best why
    too_dear = _too_dear(problem, counts, shares, reduced)
    kept = set(sorted(too_dear, key=too_dear.__getitem__)[:most]) | _wanted(problem) | _best_alone(problem)
    return structs.replace(problem, kinds=tuple(kind for kind in problem.kinds if kind.name in kept))


def _too_dear(problem: MixProblem, counts: Counts, shares: Shares, reduced: tuple[float, ...]) -> dict[str, float]:
    """By which part its price is too high, for every kind, in the bucket where it does best."""
    rates = {bucket.name: bucket.requests_per_s for bucket in problem.buckets}
    kinds = {kind.name: kind for kind in problem.kinds}
    parts = dict.fromkeys(kinds, inf)
    for (bucket, name), column in shares.items():
        kind = kinds[name]
        replicas = rates[bucket] / kind.requests_per_s[bucket] / (1.0 - problem.headroom)
        if replicas * serving_usd(kind) > 0:
            # What it lacks stands at its replicas or at its shares, as the solver likes; only the sum has a meaning.
            lacking = reduced[column] + replicas * reduced[counts[name]]
            parts[name] = min(parts[name], lacking / (replicas * serving_usd(kind)))
    return parts


def _limit(kind: ReplicaKind) -> float:
    return inf if kind.available is None else float(kind.available)


def _wanted(problem: MixProblem) -> set[str]:
    stocks = {stock.name for stock in problem.stocks if stock.minimum}
    return {kind.name for kind in problem.kinds if kind.minimum or kind.stock in stocks}


def _best_alone(problem: MixProblem) -> set[str]:
    alone = {kind.name: (serving_usd(kind), single_kind_replicas(problem, kind)) for kind in problem.kinds}
    costs = {name: usd_per_hour * count for name, (usd_per_hour, count) in alone.items() if count is not None}
    return {min(costs, key=costs.__getitem__)} if costs else set()
