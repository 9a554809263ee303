"""A mix of replicas held against the simulator: it grows until the promised share of requests keeps both times, and
sheds what is not needed for that.

The planner's rates are those of requests of one length on a replica of their own. In a fleet lengths meet, and the
router decides who serves whom; so the demand that the planner is asked about is scaled until the fleet it answers with
keeps the promise under the true demand, and cheaper fleets around that one are tried, whatever their rates say.
"""

from collections.abc import Sequence
from math import sqrt

from msgspec import Struct, structs

from heterodyne.domain.errors import PlanImpossible
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.planning.mix.cheaper_fleets import cheaper_fleets
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.limits import are_available, are_wanted
from heterodyne.planning.mix.problem import MixPlan, MixProblem
from heterodyne.planning.mix.single_kind import load_on, single_kind_replicas
from heterodyne.planning.mix.spread_load import with_replicas
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.fleet_file import FleetFile
from heterodyne.simulator.rehearsals import Deployment, Rehearsals, Replicas
from heterodyne.simulator.report import SimulationReport

CONFIRMED = 3  # times as many requests, for the fleet that is answered with
GROWN = (1.12, 1.25, 1.45, 1.75, 2.2, 3.0)  # of the demand, until the promise is kept
SHRUNK = (0.84, 0.7, 0.58, 0.48)
HALVINGS = 2  # between a demand that was enough to ask about and one that was not
MENDING_MAX = 3  # simulations of a fleet with a small replica more
LACKING = 0.05  # of the demand, that such a replica carries
WORTHWHILE = 0.95  # of what it may save
SHEDDING_MAX = 3  # simulations of the fleet with a replica less
OTHERS_MAX = 4  # kinds that the planner never names, where nothing it names keeps the promise
OTHERS_MORE = 3  # numbers of each, from what its rates ask for on
HOPELESS = 0.5  # of requests within the promise: one replica more is no help
NEAREST = 3  # fleets that are simulated for longer where none keeps the promise
BESIDE_MAX = 16  # fleets for less beside the answer that are tried
SAVING_MIN = 0.01  # of the price, to try one


class RehearsedMix(Struct, frozen=True, kw_only=True):
    """A plan, its fleet, and what the fleet did."""

    plan: MixPlan
    fleet: FleetFile
    seen: SimulationReport  # at the demand
    beyond: SimulationReport  # with the headroom used up
    is_kept: bool  # False: nothing that was tried keeps the promise
    simulations: int
    beside: "RehearsedMix | None" = None  # where roles were asked for: with prompts and answers apart, or together


def rehearsed_mix(problem: MixProblem, deployment: Deployment, log: Sequence[TraceRequest]) -> RehearsedMix:
    """The cheapest of the fleets that were tried and keep the promise under this traffic; else the best of them.

    By their rates replicas for prompts or answers alone never cost more, for whoever does both is one of the choices;
    in a fleet they may, so that both are tried.
    """
    together = tuple(kind for kind in problem.kinds if kind.role is ReplicaRole.BOTH)
    found = _rehearsed(problem, deployment, log)  # whoever does both may serve it alone: if this has no plan, none has
    if len(together) == len(problem.kinds):
        return found
    try:
        other = _rehearsed(structs.replace(problem, kinds=together), deployment, log)
    except PlanImpossible:
        return found
    best, second = sorted((found, other), key=lambda one: (not one.is_kept, one.plan.usd_per_hour))
    return structs.replace(best, beside=second)


def _rehearsed(problem: MixProblem, deployment: Deployment, log: Sequence[TraceRequest]) -> RehearsedMix:
    rehearsals = Rehearsals(problem, deployment, log)
    search = _Search(problem, rehearsals)
    first = search.planned(1.0)
    if first is None:
        cheapest_mix(problem)  # says why
        raise PlanImpossible("No mix keeps every promise.")
    search.look_around(first)
    best = search.for_less(search.confirmed())
    return RehearsedMix(
        plan=with_replicas(problem, search.plan, dict(best)),
        fleet=rehearsals.fleet(best),
        seen=rehearsals.seen(best, CONFIRMED),
        beyond=rehearsals.beyond(best, CONFIRMED),
        is_kept=rehearsals.is_kept(best, CONFIRMED),
        simulations=rehearsals.simulations,
    )


class _Search:
    """Asks the planner about more and less than the demand, and the simulator about its answers."""

    def __init__(self, problem: MixProblem, rehearsals: Rehearsals) -> None:
        self._problem = problem
        self._rehearsals = rehearsals
        self._kinds = {kind.name: kind for kind in problem.kinds}
        self._largest = 1.0  # times the demand that the planner was asked about
        self.plan: MixPlan = MixPlan(replicas={}, shares={}, utilisation={}, usd_per_hour=0.0, gap=0.0)

    def planned(self, factor: float) -> Replicas | None:
        """What the planner answers to so many times the demand."""
        scaled = tuple(
            structs.replace(one, requests_per_s=one.requests_per_s * factor) for one in self._problem.buckets
        )
        try:
            plan = cheapest_mix(structs.replace(self._problem, buckets=scaled))
        except PlanImpossible:
            return None
        if not self.plan.replicas:
            self.plan = plan
        return tuple(sorted(plan.replicas.items()))

    def look_around(self, first: Replicas) -> None:
        """Fleets for less, while they keep the promise; or for more, until one does."""
        is_kept = self._rehearsals.is_kept
        if not is_kept(first):
            self._grow(1.0, 1)
            return
        best, enough, too_little = first, 1.0, None
        for factor in SHRUNK:
            smaller = self.planned(factor)
            if smaller is None or not is_kept(smaller):
                too_little = factor
                break
            best, enough = smaller, factor
        for _ in range(HALVINGS if too_little is not None else 0):
            assert too_little is not None
            factor = sqrt(enough * too_little)
            between = self.planned(factor)
            if between is not None and is_kept(between):
                best, enough = between, factor
            else:
                too_little = factor
        self._shed(best)

    def confirmed(self) -> Replicas:
        """The cheapest that keeps the promise for longer too; where none does, the one that comes nearest."""
        rehearsals = self._rehearsals
        while True:
            kept = sorted((one for one in rehearsals.fleets() if rehearsals.is_kept(one)), key=rehearsals.usd_per_hour)
            nearly: Replicas | None = None
            for fleet in kept:
                if rehearsals.is_kept(fleet, CONFIRMED):
                    return fleet if nearly is None else self._mended(nearly, fleet)
                nearly = nearly or fleet
            if not self._grow(self._largest, CONFIRMED) and not self._try_others():
                near = sorted(rehearsals.fleets(), key=lambda one: -rehearsals.beyond(one).attainment)[:NEAREST]
                return max(near, key=lambda one: rehearsals.seen(one, CONFIRMED).attainment)

    def _try_others(self) -> bool:
        """Fleets of one kind that the planner never names: wide replicas cost more by its rates, and keep up better."""
        named = {name for fleet in self._rehearsals.fleets() for name, _ in fleet}
        wanted = ((kind, single_kind_replicas(self._problem, kind)) for kind in self._problem.kinds)
        others = [(kind.usd_per_hour * count, kind.name, count) for kind, count in wanted if count]
        others = sorted(one for one in others if one[1] not in named)[:OTHERS_MAX]
        return any(self._is_enough_of(name, count) for _, name, count in others)

    def _is_enough_of(self, name: str, count: int) -> bool:
        """So many, or one or two more, unless the first keeps it to hardly anybody."""
        for more in range(OTHERS_MORE):
            fleet = ((name, count + more),)
            if not are_available(self._problem, dict(fleet)):
                return False
            if self._rehearsals.is_kept(fleet):
                return True
            if self._rehearsals.beyond(fleet).attainment < HOPELESS:
                return False
        return False

    def for_less(self, best: Replicas) -> Replicas:
        """The answer, or a cheaper fleet beside it that keeps the promise for as long."""
        rehearsals = self._rehearsals
        if not rehearsals.is_kept(best, CONFIRMED) or not self._is_simulated_alone(best):
            return best
        failed = [one for one in rehearsals.fleets() if not rehearsals.is_kept(one)]
        waiting = self._around(best)
        for _ in range(BESIDE_MAX):
            fleet = next((one for one in waiting if not _is_part(one, failed)), None)
            if fleet is None:
                break
            if rehearsals.is_kept(fleet) and rehearsals.is_kept(fleet, CONFIRMED):
                best, waiting = fleet, self._around(fleet)
            else:
                failed.append(fleet)
        return best

    def _around(self, best: Replicas) -> list[Replicas]:
        """For so much less that it is worth trying, the most likely first."""
        plan = with_replicas(self._problem, self.plan, dict(best))
        enough = plan.usd_per_hour * (1.0 - SAVING_MIN)
        around = [one for one in cheaper_fleets(self._problem, plan) if one.usd_per_hour < enough]
        fleets = [tuple(sorted(one.replicas.items())) for one in around]
        return [one for one in fleets if self._is_simulated_alone(one)]

    def _mended(self, nearly: Replicas, enough: Replicas) -> Replicas:
        """One small replica more may do for a fleet that nearly kept the promise."""
        to_spare = self._rehearsals.usd_per_hour(enough) - self._rehearsals.usd_per_hour(nearly)
        useful = [
            kind
            for kind in self._problem.kinds
            if 0.0 < kind.usd_per_hour < to_spare * WORTHWHILE
            and all(kind.requests_per_s.get(bucket.name) for bucket in self._problem.buckets)
            and load_on(kind, self._problem.buckets) * LACKING < 1.0
        ]
        for kind in sorted(useful, key=lambda one: one.usd_per_hour)[:MENDING_MAX]:
            counts = dict(nearly)
            counts[kind.name] = counts.get(kind.name, 0) + 1
            mended = tuple(sorted(counts.items()))
            if are_available(self._problem, counts) and self._rehearsals.is_kept(mended, CONFIRMED):
                return mended
        return enough

    def _grow(self, factor: float, times: int) -> bool:
        """The first that keeps the promise as the demand grows."""
        for larger_factor in GROWN:
            if larger_factor <= factor:
                continue
            self._largest = larger_factor
            larger = self.planned(larger_factor)
            if larger is None:
                return False
            if self._rehearsals.is_kept(larger, times):
                self._shed(larger)
                return True
        return False

    def _shed(self, fleet: Replicas) -> None:
        """A replica less of one kind after another, the dearest first, as long as the promise is kept."""
        tries = 0
        shedding = True
        while shedding:
            shedding = False
            for name, _ in sorted(fleet, key=lambda one: -self._kinds[one[0]].usd_per_hour):
                fewer = tuple((kind, count - (kind == name)) for kind, count in fleet if count - (kind == name))
                if not fewer or not self._is_allowed(fewer) or tries >= SHEDDING_MAX:
                    continue
                tries += 1
                if self._rehearsals.is_kept(fewer):
                    fleet, shedding = fewer, True
                    break

    def _is_allowed(self, fleet: Replicas) -> bool:
        """Least numbers still hold, and no promise is left that a simulation does not see."""
        return self._is_simulated_alone(fleet) and are_wanted(self._problem, dict(fleet))

    def _is_simulated_alone(self, fleet: Replicas) -> bool:
        """Losses and shares of spot capacity are the planner's; a simulation does not see them."""
        has_spot = self._problem.spot_share_max < 1.0 and any(self._kinds[name].is_spot for name, _ in fleet)
        return not self._problem.survives_one_loss and not has_spot


def _is_part(fleet: Replicas, failed: Sequence[Replicas]) -> bool:
    """Whether it has no more of anything than one that failed."""
    return any(all(count <= dict(one).get(name, 0) for name, count in fleet) for one in failed)
