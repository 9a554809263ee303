"""A mix of replicas held against the simulator: it grows until the promised share of requests keeps both times, and
sheds what is not needed for that.

The planner's rates are those of requests of one length on a replica of their own. In a fleet lengths meet, and the
router decides who serves whom; so the demand that the planner is asked about is scaled until the fleet it answers with
keeps the promise under the true demand.
"""

from collections.abc import Mapping, Sequence
from math import ceil, sqrt

from msgspec import Struct, structs

from heterodyne.domain.errors import PlanImpossible
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Profile
from heterodyne.physics.step_time import Speculation
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.problem import MixPlan, MixProblem, ReplicaKind
from heterodyne.planning.mix.single_kind import load_on
from heterodyne.planning.mix.spread_load import with_replicas
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.fleet import lay_out
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool
from heterodyne.simulator.fleet_text import pool_name
from heterodyne.simulator.promise import Promise
from heterodyne.simulator.report import SimulationReport, report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload

REQUESTS = 1200  # of a simulation that judges one of many fleets, or as many as are inside at once several times over
CONFIRMED = 3  # times as many, for the fleet that is answered with
TURNS_MIN = 3.0  # answers one after the other in a short simulation
REQUESTS_MAX = 4000
POLICY, SEED = "slo", 11
MARGIN = 0.1  # of the requests that may break the promise, kept for other days than the one simulated
GROWN = (1.12, 1.25, 1.45, 1.75, 2.2, 3.0)  # of the demand, until the promise is kept
SHRUNK = (0.84, 0.7, 0.58, 0.48)
HALVINGS = 2  # between a demand that was enough to ask about and one that was not
MENDING_MAX = 3  # simulations of a fleet with a small replica more
LACKING = 0.05  # of the demand, that such a replica carries
WORTHWHILE = 0.95  # of what it may save
SHEDDING_MAX = 3  # simulations of the fleet with a replica less


class Deployment(Struct, frozen=True, kw_only=True):
    """What every pool of the plan runs, and for whom."""

    model: ModelSpec
    name: str  # as pools and clients call it
    engine_model: str | None = None  # where its shape is to be found, if not under that name
    precision: Precision
    kv_precision: Precision
    speculation: Speculation | None = None
    promise: Promise
    catalogue: Mapping[str, Accelerator]
    measured: tuple[Profile, ...] = ()


class RehearsedMix(Struct, frozen=True, kw_only=True):
    """A plan, its fleet, and what the fleet did."""

    plan: MixPlan
    fleet: FleetFile
    seen: SimulationReport
    is_kept: bool  # False: nothing that was tried keeps the promise
    simulations: int


def rehearsed_mix(problem: MixProblem, deployment: Deployment, log: Sequence[TraceRequest]) -> RehearsedMix:
    """The cheapest of the fleets that were tried and keep the promise under this traffic; else the best of them."""
    search = _Search(problem, deployment, log)
    first = search.planned(1.0)
    if first is None:
        cheapest_mix(problem)  # says why
        raise PlanImpossible("No mix keeps every promise.")
    search.look_around(first)
    best = search.confirmed()
    return RehearsedMix(
        plan=with_replicas(problem, search.plan, dict(best)),
        fleet=search.fleet(best),
        seen=search.seen(best, CONFIRMED),
        is_kept=search.is_kept(best, CONFIRMED),
        simulations=search.simulations,
    )


Replicas = tuple[tuple[str, int], ...]  # of each kind


def fleet_of(fleet: Replicas, kinds: Mapping[str, ReplicaKind], deployment: Deployment) -> FleetFile:
    """As a file has it; idle chips are no pools."""
    used = [(kinds[name], count) for name, count in fleet if kinds[name].requests_per_s]
    pools = {pool_name(kind.name): _pool(kind, count, deployment) for kind, count in used}
    return FleetFile(pools=pools, promise=deployment.promise)


def _pool(kind: ReplicaKind, count: int, deployment: Deployment) -> SimulatedPool:
    assert kind.hardware is not None, "of the catalogue"
    assert kind.engine is not None, "of the catalogue"
    return SimulatedPool(
        model=deployment.name,
        engine_model=deployment.engine_model,
        hardware=kind.hardware,
        engine=kind.engine,
        tp=kind.chips,
        precision=deployment.precision,
        kv_precision=deployment.kv_precision,
        speculation=deployment.speculation,
        slowdown=kind.slowdown,
        replicas=count,
        price_usd_per_hour=kind.usd_per_hour,
    )


class _Search:
    """Remembers every fleet that was simulated."""

    def __init__(self, problem: MixProblem, deployment: Deployment, log: Sequence[TraceRequest]) -> None:
        self._problem = problem
        self._deployment = deployment
        self._log = log
        self._kinds = {kind.name: kind for kind in problem.kinds}
        self._seen: dict[tuple[Replicas, int], SimulationReport] = {}
        self._largest = 1.0  # times the demand that the planner was asked about
        self.plan: MixPlan = MixPlan(replicas={}, shares={}, utilisation={}, usd_per_hour=0.0, gap=0.0)

    @property
    def simulations(self) -> int:
        return len(self._seen)

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
        if not self.is_kept(first):
            self._grow(1.0, 1)
            return
        best, enough, too_little = first, 1.0, None
        for factor in SHRUNK:
            smaller = self.planned(factor)
            if smaller is None or not self.is_kept(smaller):
                too_little = factor
                break
            best, enough = smaller, factor
        for _ in range(HALVINGS if too_little is not None else 0):
            assert too_little is not None
            factor = sqrt(enough * too_little)
            between = self.planned(factor)
            if between is not None and self.is_kept(between):
                best, enough = between, factor
            else:
                too_little = factor
        self._shed(best)

    def confirmed(self) -> Replicas:
        """The cheapest that keeps the promise for longer too; where none does, the one that comes nearest."""
        while True:
            kept = sorted((one for one in self._fleets() if self.is_kept(one)), key=self._usd_per_hour)
            nearly: Replicas | None = None
            for fleet in kept:
                if self.is_kept(fleet, CONFIRMED):
                    return fleet if nearly is None else self._mended(nearly, fleet)
                nearly = nearly or fleet
            if not self._grow(self._largest, CONFIRMED):
                return max(self._fleets(), key=lambda one: self.seen(one, CONFIRMED).attainment)

    def _mended(self, nearly: Replicas, enough: Replicas) -> Replicas:
        """One small replica more may do for a fleet that nearly kept the promise."""
        to_spare = self._usd_per_hour(enough) - self._usd_per_hour(nearly)
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
            if self._is_available(mended) and self.is_kept(mended, CONFIRMED):
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
            if self.is_kept(larger, times):
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
                if self.is_kept(fewer):
                    fleet, shedding = fewer, True
                    break

    def _fleets(self) -> list[Replicas]:
        return list(dict.fromkeys(fleet for fleet, _ in self._seen))

    def _usd_per_hour(self, fleet: Replicas) -> float:
        return sum(self._kinds[name].usd_per_hour * count for name, count in fleet)

    def _is_available(self, fleet: Replicas) -> bool:
        """Whether there are so many."""
        problem = self._problem
        few = all(self._kinds[n].available is None or c <= (self._kinds[n].available or 0) for n, c in fleet)
        chips = self._chips(fleet)
        return few and all(one.available is None or chips[one.name] <= one.available for one in problem.stocks)

    def _chips(self, fleet: Replicas) -> dict[str, int]:
        """Of each stock."""
        return {
            stock.name: sum(self._kinds[n].chips * c for n, c in fleet if self._kinds[n].stock == stock.name)
            for stock in self._problem.stocks
        }

    def _is_allowed(self, fleet: Replicas) -> bool:
        """Least numbers still hold, and every bucket has somebody who keeps its promise."""
        counts, problem = dict(fleet), self._problem
        if problem.survives_one_loss or (problem.spot_share_max < 1.0 and any(self._kinds[n].is_spot for n in counts)):
            return False  # those promises are the planner's, and a simulation does not see them
        enough = all(counts.get(kind.name, 0) >= kind.minimum for kind in problem.kinds)
        chips = self._chips(fleet)
        return enough and all(chips[stock.name] >= stock.minimum for stock in problem.stocks)

    def is_kept(self, fleet: Replicas, times: int = 1) -> bool:
        share = self._deployment.promise.share
        return self.seen(fleet, times).attainment >= share + (1.0 - share) * MARGIN

    def seen(self, fleet: Replicas, times: int = 1) -> SimulationReport:
        if (fleet, times) not in self._seen:
            self._seen[fleet, times] = self._simulated(fleet, times)
        return self._seen[fleet, times]

    def fleet(self, fleet: Replicas) -> FleetFile:
        return fleet_of(fleet, self._kinds, self._deployment)

    def _simulated(self, fleet: Replicas, times: int) -> SimulationReport:
        deployment = self._deployment
        promise = deployment.promise
        pools = lay_out(
            self.fleet(fleet),
            catalogue=deployment.catalogue,
            measured=deployment.measured,
            model_from=lambda _: deployment.model,
        )
        rate = (promise.requests_per_s or 1.0) / (1.0 - self._problem.headroom)
        mean_output = sum(one.output_tokens for one in self._log) / len(self._log)
        turns = rate * TURNS_MIN * (promise.slo.ttft_s + promise.slo.itl_s * mean_output) / 2
        requests = min(REQUESTS_MAX, max(REQUESTS, ceil(turns))) * times
        trial = Trial(policy=POLICY, seed=SEED, slo=promise.slo)
        return report(run(pools, workload(self._log, rate=rate, requests=requests), trial), trial)
