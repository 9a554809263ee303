"""The cheapest mix of replica kinds for a traffic histogram, as a mixed-integer programme (MILP).

Shares of a bucket are continuous and replica counts whole, so the problem stays small: twelve integers for twelve
kinds, however many buckets there are. The loss of a replica is a second assignment of the critical buckets.
"""

from collections.abc import Iterator
from math import ceil

from msgspec import structs

from heterodyne.domain.errors import PlanImpossible
from heterodyne.planning.mix.assignment import Counts, Shares, assign, draw_on_stocks
from heterodyne.planning.mix.checks import check
from heterodyne.planning.mix.dominated import without_dominated
from heterodyne.planning.mix.interruptions import first_spares_usd, hourly_usd, rented, serving_usd
from heterodyne.planning.mix.milp import Milp, Solution
from heterodyne.planning.mix.problem import MixPlan, MixProblem, ReplicaKind, TrafficBucket
from heterodyne.planning.mix.single_kind import load_on, single_kind_replicas
from heterodyne.planning.mix.worthwhile import worthwhile

TIME_LIMIT_S = 30.0
SHARE_MIN = 1e-6  # below this a share is the solver's rounding


def cheapest_mix(problem: MixProblem) -> MixPlan:
    """Solve, or raise with the constraint that cannot be met."""
    check(problem)
    plan = _solve(problem)
    if plan is None:
        raise PlanImpossible(_why_impossible(problem))
    return plan


def _solve(problem: MixProblem) -> MixPlan | None:
    """Ask about the kinds that matter first; all of them when those find nothing."""
    kinds = without_dominated(problem.kinds, problem.stocks)
    narrowed = worthwhile(structs.replace(problem, kinds=kinds))
    plan = _solve_as_asked(narrowed)
    if plan is None and narrowed != problem:
        plan = _solve_as_asked(problem)
    if plan is None:
        return None
    return structs.replace(plan, single_kind_usd_per_hour=_alone(problem))


def _solve_as_asked(problem: MixProblem) -> MixPlan | None:
    """Losses are guarded against only where the optimum so far would not survive one.

    Leaving a constraint out can only make a plan cheaper, so the first optimum that meets them all is the optimum.
    """
    guarded: frozenset[str] = frozenset()
    while True:
        milp, counts, shares = _formulate(problem, guarded)
        solution = milp.solve(TIME_LIMIT_S)
        if solution is None:
            return None
        plan = _plan(problem, solution, counts, shares)
        fatal = frozenset(name for name in plan.replicas if not _survives(problem, plan.replicas, name)) - guarded
        if not fatal:
            return plan
        guarded |= fatal


def _formulate(problem: MixProblem, guarded: frozenset[str]) -> tuple[Milp, Counts, Shares]:
    milp = Milp()
    counts = {kind.name: milp.integer(serving_usd(kind), kind.minimum, _most(problem, kind)) for kind in problem.kinds}
    shares = assign(milp, problem, problem.buckets, counts, usable=1.0 - problem.headroom)
    draw_on_stocks(milp, problem, counts)
    for kind in problem.kinds:
        if kind.missing_share:
            # Spares are many beside few replicas and few beside many: a price for the first, and a part of each.
            is_there = milp.integer(first_spares_usd(kind), 0, 1)
            milp.at_most({counts[kind.name]: 1.0, is_there: -float(_most(problem, kind))}, 0.0)
        if kind.name in guarded:
            is_used = milp.integer(0.0, 0, 1)
            milp.at_most({counts[kind.name]: 1.0, is_used: -float(_most(problem, kind))}, 0.0)
            assign(milp, problem, _critical(problem), counts, usable=1.0, lost=(kind.name, is_used))
    return milp, counts, shares


def _survives(problem: MixProblem, replicas: dict[str, int], lost: str) -> bool:
    """Whether the critical buckets still fit when one replica of a kind is gone."""
    critical = _critical(problem)
    if not problem.survives_one_loss or not critical:
        return True
    milp = Milp()
    left = {kind.name: replicas.get(kind.name, 0) - (kind.name == lost) for kind in problem.kinds}
    counts = {name: milp.continuous(0.0, 0.0, float(count)) for name, count in left.items()}
    assign(milp, problem, critical, counts, usable=1.0)
    return milp.solve(TIME_LIMIT_S) is not None


def _critical(problem: MixProblem) -> tuple[TrafficBucket, ...]:
    return tuple(bucket for bucket in problem.buckets if bucket.is_critical)


def _most(problem: MixProblem, kind: ReplicaKind) -> int:
    """More replicas than this of one kind never help: they do all they can alone, with one to spare."""
    wanted = sum(stock.minimum for stock in problem.stocks if stock.name == kind.stock)
    enough = ceil(load_on(kind, problem.buckets) / (1.0 - problem.headroom)) + 1
    enough = max(enough, kind.minimum, ceil(wanted / kind.chips))
    while kind.available is not None and enough and rented(kind, enough) > kind.available:
        enough -= 1
    return enough


def _plan(problem: MixProblem, solution: Solution, counts: Counts, shares: Shares) -> MixPlan:
    values = solution.values
    kinds = {kind.name: kind for kind in problem.kinds}
    rates = {bucket.name: bucket.requests_per_s for bucket in problem.buckets}
    replicas = {name: round(values[column]) for name, column in counts.items() if round(values[column])}
    busy = dict.fromkeys(replicas, 0.0)
    by_bucket: dict[str, dict[str, float]] = {name: {} for name in rates}
    for (bucket, name), column in shares.items():
        if values[column] > SHARE_MIN and name in busy:
            by_bucket[bucket][name] = values[column]
            busy[name] += values[column] * rates[bucket] / kinds[name].requests_per_s[bucket]
    return MixPlan(
        replicas=replicas,
        shares=by_bucket,
        utilisation={name: busy[name] / count for name, count in replicas.items()},
        usd_per_hour=hourly_usd(kinds, replicas),
        gap=solution.gap,
    )


def _alone(problem: MixProblem) -> dict[str, float]:
    replicas = ((kind, single_kind_replicas(problem, kind)) for kind in problem.kinds)
    return {
        kind.name: hourly_usd({kind.name: kind}, {kind.name: count}) for kind, count in replicas if count is not None
    }


def _why_impossible(problem: MixProblem) -> str:
    """Which constraint binds: relax them one by one and see with which a mix appears."""
    eased = {constraint: _solve(easier) for constraint, easier in _relaxations(problem)}
    ways = [f"{constraint} ({_in_words(plan)})" for constraint, plan in eased.items() if plan is not None]
    if ways:
        return f"No mix keeps every promise; there is one without {', or without '.join(ways)}."
    return "No mix keeps every promise, and giving up one of them is not enough; offer more or faster kinds."


def _relaxations(problem: MixProblem) -> Iterator[tuple[str, MixProblem]]:
    """What is given up, and the problem without it, to find which constraint is too much; only those that are set."""
    plenty = structs.replace(
        problem,
        kinds=tuple(structs.replace(kind, available=None) for kind in problem.kinds),
        stocks=tuple(structs.replace(stock, available=None) for stock in problem.stocks),
    )
    unbound = structs.replace(
        problem,
        kinds=tuple(structs.replace(kind, minimum=0) for kind in problem.kinds),
        stocks=tuple(structs.replace(stock, minimum=0) for stock in problem.stocks),
    )
    easier = {
        "the limits on availability": plenty,
        "the least numbers wanted": unbound,
        "the limit on spot capacity": structs.replace(problem, spot_share_max=1.0),
        "surviving the loss of a replica": structs.replace(problem, survives_one_loss=False),
        "headroom": structs.replace(problem, headroom=0.0),
    }
    for constraint, question in easier.items():
        if question != problem:
            yield constraint, question


def _in_words(plan: MixPlan) -> str:
    replicas = ", ".join(f"{count} of {name}" for name, count in plan.replicas.items())
    return f"{replicas}, {plan.usd_per_hour:,.2f} USD/hour"
