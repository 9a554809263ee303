"""Fleets that cost less than one that is known, near enough to carry its traffic: what to try when rates are rough.

A programme of rates knows replicas one by one; in a fleet they take each other's load, so one that is too small on
paper may keep its promise. Some replicas of the known fleet go, others come for less; what comes is judged by the load
on its busiest kind when the traffic is dealt out best.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement

from msgspec import Struct

from heterodyne.planning.mix.dominated import without_dominated
from heterodyne.planning.mix.interruptions import hourly_usd
from heterodyne.planning.mix.limits import are_available, are_wanted
from heterodyne.planning.mix.problem import MixPlan, MixProblem, ReplicaKind
from heterodyne.planning.mix.single_kind import load_on
from heterodyne.planning.mix.spread_load import with_replicas

EXCHANGED_MAX = 4  # replicas that go, and that come
KINDS_MAX = 8  # that come
BEST_MAX = 6  # of those, that no other replaces
LOAD_MAX = 1.4  # of the busiest kind on paper; beyond, no fleet was seen to keep its promise
LOAD_SURE = 1.0
DEALT_MAX = 120  # fleets whose traffic is dealt out: each is a programme of its own
ROUGH_MAX = 2.0  # load by proportion, beyond which dealing out well does not help


class CheaperFleet(Struct, frozen=True, kw_only=True):
    """One that might do."""

    replicas: dict[str, int]
    usd_per_hour: float
    load: float  # of its busiest kind, on paper


def cheaper_fleets(problem: MixProblem, plan: MixPlan) -> list[CheaperFleet]:
    """Around a plan that keeps its promise; those first that are likely to save most."""
    kinds = {kind.name: kind for kind in problem.kinds}
    fleets = [one for one in _exchanged(problem, plan.replicas, plan.usd_per_hour) if _is_possible(problem, one)]
    rough = ((_rough_load(kinds, problem, one), one) for one in fleets)
    hopeful = [(load, one) for load, one in rough if load <= ROUGH_MAX]
    hopeful.sort(key=lambda one: -(plan.usd_per_hour - hourly_usd(kinds, one[1])) * (ROUGH_MAX - one[0]))
    dealt = [_dealt(problem, plan, one) for _, one in hopeful[:DEALT_MAX]]
    likely = [one for one in dealt if one is not None and one.load < LOAD_MAX]
    return sorted(likely, key=lambda one: -_expected_saving(one, plan))


def _expected_saving(fleet: CheaperFleet, plan: MixPlan) -> float:
    """Dollars an hour, by the chance that the fleet will do: sure of as much load as the plan carries, none far beyond.

    Where the plan has to stay well below its rates, those promise too much for this traffic.
    """
    sure = min(LOAD_SURE, max(plan.utilisation.values(), default=LOAD_SURE))
    chance = min(1.0, max(0.0, (LOAD_MAX - fleet.load) / (LOAD_MAX - sure)))
    return (plan.usd_per_hour - fleet.usd_per_hour) * chance


def _exchanged(problem: MixProblem, replicas: Mapping[str, int], usd_per_hour: float) -> Iterator[dict[str, int]]:
    """Some go, and some others come for less than those cost; every result once."""
    kinds = {kind.name: kind for kind in problem.kinds}
    groups = [Counter(one) for one in _groups([kind.name for kind in _useful(problem, replicas)])]
    coming = sorted(((hourly_usd(kinds, one), one) for one in groups), key=lambda one: one[0])
    seen: set[frozenset[tuple[str, int]]] = set()
    for going in map(Counter, _groups([name for name in replicas if kinds[name].usd_per_hour > 0])):
        if any(count > replicas[name] for name, count in going.items()):
            continue
        freed = hourly_usd(kinds, going)
        for usd, group in coming:
            if usd >= freed:
                break
            if group.keys() & going.keys():
                continue  # a smaller exchange comes to the same
            left = {name: count - going[name] + group[name] for name, count in replicas.items()}
            fleet = {name: count for name, count in ({**group, **left}).items() if count}
            word = frozenset(fleet.items())
            if fleet and word not in seen and hourly_usd(kinds, fleet) < usd_per_hour:
                seen.add(word)
                yield fleet


def _groups(names: list[str]) -> Iterator[tuple[str, ...]]:
    """None of them, or up to so many."""
    for size in range(EXCHANGED_MAX + 1):
        yield from combinations_with_replacement(names, size)


def _useful(problem: MixProblem, replicas: Mapping[str, int]) -> list[ReplicaKind]:
    """Those that do the most for their price, and those that are there."""
    able = [kind for kind in problem.kinds if kind.requests_per_s]
    able.sort(key=lambda kind: kind.usd_per_hour * load_on(kind, problem.buckets) / len(kind.requests_per_s))
    best = without_dominated(able, problem.stocks)[:BEST_MAX]
    used = [kind for kind in able if kind.name in replicas or kind in best]
    # What another replaces by its rates may still do better where lengths meet: wide replicas have the shorter queue.
    return used + [kind for kind in able if kind not in used][: max(0, KINDS_MAX - len(used))]


def _is_possible(problem: MixProblem, fleet: Mapping[str, int]) -> bool:
    return are_available(problem, fleet) and are_wanted(problem, fleet)


def _rough_load(kinds: Mapping[str, ReplicaKind], problem: MixProblem, fleet: Mapping[str, int]) -> float:
    """As if every kind took its part of whatever it serves."""
    carried = sum(count / load_on(kinds[name], problem.buckets) for name, count in fleet.items() if _does(kinds, name))
    return 1.0 / carried if carried else float("inf")


def _does(kinds: Mapping[str, ReplicaKind], name: str) -> bool:
    return bool(kinds[name].requests_per_s)


def _dealt(problem: MixProblem, plan: MixPlan, fleet: dict[str, int]) -> CheaperFleet | None:
    """None where a bucket has nobody."""
    spread = with_replicas(problem, plan, fleet)
    if not all(spread.shares.values()):
        return None
    return CheaperFleet(
        replicas=fleet, usd_per_hour=spread.usd_per_hour, load=max(spread.utilisation.values(), default=0.0)
    )
