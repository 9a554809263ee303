"""Plans a case, judges the fleet on other traffic, and looks for the cheapest fleet by simulating the cheaper ones."""

from collections.abc import Iterator, Mapping
from time import process_time

from msgspec import Struct, structs

from benchmarks.plans.cases import SHARE, Case
from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.serving import goodput
from heterodyne.planning.hardware.candidate import HardwareCandidate, candidates, try_replica
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.dominated import without_dominated
from heterodyne.planning.mix.problem import MixProblem
from heterodyne.planning.mix.requirements import MixRequirements, mix_problem
from heterodyne.planning.mix.spread_load import with_replicas
from heterodyne.planning.traffic.histogram import Cell, histogram
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.fleet import lay_out
from heterodyne.simulator.fleet_file import FleetFile
from heterodyne.simulator.promise import Promise
from heterodyne.simulator.rehearsals import Deployment, Replicas, fleet_of
from heterodyne.simulator.rehearsed_mix import rehearsed_mix
from heterodyne.simulator.report import report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload

PLANNED_LOG, PLANNED_SEED = 4000, 1
JUDGED_LOG, JUDGED_SEED, ROUTER_SEED = 5000, 2, 99
BUCKETS = 4  # on each axis
SCREENED = 700  # requests of a first look at a fleet
SCREEN_SHARE = 0.95  # less than this in a first look is no fleet
SIMULATIONS_MAX = 1000  # of cheaper fleets
FLEETS_MAX = 200_000  # that are looked at on paper
OPTIMISM = 1.1  # times the rate at which mean times are just within the level: no replica keeps a promise beyond


class Judgement(Struct, frozen=True, kw_only=True):
    """What came of one case."""

    case: Case
    fleet: dict[str, int]
    usd_per_hour: float
    is_kept_as_planned: bool
    planned_share: float  # within both times, in the simulation the plan was made by
    judged_share: float  # the same on other traffic
    cheapest: dict[str, int]  # that was found by simulating all cheaper ones
    cheapest_usd_per_hour: float
    searched: int  # simulations of cheaper fleets
    is_whole: bool  # every cheaper fleet was simulated or ruled out
    cpu_s: float  # of the plan
    judged_s: float = 0.0  # processor time of all of it


def judge(case: Case) -> Judgement:
    """Plan, judge, search."""
    began_s = process_time()
    requirements, deployment, log = _asked(case)
    problem = mix_problem(requirements)
    plan = rehearsed_mix(problem, deployment, log)
    cpu_s = process_time() - began_s
    judged = _Judge(case, deployment, problem)
    fleet: Replicas = tuple(sorted(plan.plan.replicas.items()))
    search = _search(case, requirements, problem, judged, plan.plan.usd_per_hour)
    best = search.fleet or fleet
    judged_share = judged.share(fleet, JUDGED_LOG)
    return Judgement(
        case=case,
        fleet=dict(fleet),
        usd_per_hour=plan.plan.usd_per_hour,
        is_kept_as_planned=plan.is_kept,
        planned_share=plan.seen.attainment,
        judged_share=judged_share,
        cheapest=dict(best),
        cheapest_usd_per_hour=_usd(problem, best),
        searched=search.simulations,
        is_whole=search.is_whole,
        cpu_s=cpu_s,
        judged_s=process_time() - began_s,
    )


def _asked(case: Case) -> tuple[MixRequirements, Deployment, list[TraceRequest]]:
    spec, catalogue = model_spec(case.model), accelerators()
    log = case.traffic.log(PLANNED_LOG, PLANNED_SEED)
    requirements = MixRequirements(
        model=spec,
        precision=case.precision,
        cells=tuple(histogram(log, bins=BUCKETS)),
        requests_per_s=case.requests_per_s,
        slo=case.slo,
        share=SHARE,
        accelerators=tuple(catalogue[name] for name in case.chips),
    )
    promise = Promise(
        ttft_ms=case.slo.ttft_s * 1000,
        itl_ms=case.slo.itl_s * 1000,
        share=SHARE,
        requests_per_s=case.requests_per_s,
    )
    deployment = Deployment(
        model=spec,
        name=spec.name,
        precision=case.precision,
        kv_precision=requirements.kv_precision,
        promise=promise,
        catalogue=catalogue,
    )
    return requirements, deployment, log


class _Judge:
    """Simulates fleets on traffic that no plan was made with."""

    def __init__(self, case: Case, deployment: Deployment, problem: MixProblem) -> None:
        self._case = case
        self._deployment = deployment
        self._kinds = {kind.name: kind for kind in problem.kinds}
        self._log = case.traffic.log(JUDGED_LOG, JUDGED_SEED)

    def share(self, fleet: Replicas, requests: int) -> float:
        file: FleetFile = fleet_of(fleet, self._kinds, self._deployment)
        pools = lay_out(file, catalogue=self._deployment.catalogue, model_from=lambda _: self._deployment.model)
        trial = Trial(policy="slo", seed=ROUTER_SEED, slo=self._case.slo)
        traffic = workload(self._log, rate=self._case.requests_per_s, requests=requests)
        return report(run(pools, traffic, trial), trial).attainment

    def is_kept(self, fleet: Replicas) -> bool:
        return self.share(fleet, SCREENED) >= SCREEN_SHARE and self.share(fleet, JUDGED_LOG) >= SHARE


class _Found(Struct, frozen=True, kw_only=True):
    fleet: Replicas | None
    simulations: int
    is_whole: bool


def _search(
    case: Case, requirements: MixRequirements, problem: MixProblem, judged: _Judge, usd_per_hour: float
) -> _Found:
    """Every fleet that costs less and is not hopeless on paper, the cheapest first, until one keeps the promise."""
    hopeful = _hopeful(requirements, problem)
    failed: list[Mapping[str, int]] = []
    simulations = 0
    fleets, is_whole = _cheaper(hopeful, usd_per_hour)
    for fleet in fleets:
        counts = dict(fleet)
        if any(all(counts[name] <= more.get(name, 0) for name in counts) for more in failed):
            continue  # more of everything was not enough
        if simulations >= SIMULATIONS_MAX:
            return _Found(fleet=None, simulations=simulations, is_whole=False)
        simulations += 1
        if judged.is_kept(fleet):
            return _Found(fleet=fleet, simulations=simulations, is_whole=is_whole)
        failed.append(counts)
    return _Found(fleet=None, simulations=simulations, is_whole=is_whole)


def _hopeful(requirements: MixRequirements, problem: MixProblem) -> MixProblem:
    """The same question with rates that no replica exceeds within its promise."""
    cells = {cell.name: cell for cell in requirements.cells}
    laid_out = {
        f"{one.accelerator.name} x{one.tp}": one
        for one in candidates(
            requirements.model,
            requirements.accelerators,
            precision=requirements.precision,
            kv_precision=requirements.kv_precision,
        )
        if isinstance(one, HardwareCandidate)
    }
    kinds = tuple(
        structs.replace(
            kind,
            requests_per_s={
                name: max(rate, OPTIMISM * _mean_rate(laid_out[kind.name], cells[name], requirements))
                for name, rate in kind.requests_per_s.items()
            },
        )
        for kind in problem.kinds
    )
    return structs.replace(problem, kinds=without_dominated(kinds, ()))


def _mean_rate(candidate: HardwareCandidate, cell: Cell, requirements: MixRequirements) -> float:
    replica = try_replica(candidate, cell.shape)
    if replica is None:
        return 0.0
    shape = cell.shape
    most = goodput(replica, requirements.slo, prompt_tokens=shape.prompt_tokens, output_tokens=shape.output_tokens)
    return most.served.requests_per_s if most.served else 0.0


def _cheaper(problem: MixProblem, usd_per_hour: float) -> tuple[list[Replicas], bool]:
    """Fleets below this price that could carry the traffic on paper, the cheapest first; False: there were too many."""
    least = cheapest_mix(problem).usd_per_hour * 0.999
    kinds = sorted(problem.kinds, key=lambda kind: -kind.usd_per_hour)
    plan = cheapest_mix(problem)
    found: list[tuple[float, Replicas]] = []

    def walk(place: int, chosen: tuple[tuple[str, int], ...], usd: float) -> Iterator[tuple[float, Replicas]]:
        if place == len(kinds):
            if usd >= least and chosen:
                yield usd, tuple(sorted(chosen))
            return
        kind, count = kinds[place], 0
        while usd + count * kind.usd_per_hour < usd_per_hour - 1e-6:
            more = (*chosen, (kind.name, count)) if count else chosen
            yield from walk(place + 1, more, usd + count * kind.usd_per_hour)
            count += 1

    for looked, (usd, fleet) in enumerate(walk(0, (), 0.0)):
        if looked == FLEETS_MAX:
            return [one for _, one in sorted(found)], False
        if _carries(problem, dict(fleet)):
            spread = with_replicas(problem, plan, dict(fleet))
            if spread.shares and all(spread.shares.values()) and max(spread.utilisation.values()) <= 1.0:
                found.append((usd, fleet))
    return [one for _, one in sorted(found)], True


def _carries(problem: MixProblem, counts: Mapping[str, int]) -> bool:
    """A quick look: the best rate of every kind for every bucket."""
    kinds = [kind for kind in problem.kinds if kind.name in counts]
    most = sum(counts[kind.name] * max(kind.requests_per_s.values(), default=0.0) for kind in kinds)
    return most >= sum(bucket.requests_per_s for bucket in problem.buckets) and all(
        any(kind.requests_per_s.get(bucket.name) for kind in kinds) for bucket in problem.buckets
    )


def _usd(problem: MixProblem, fleet: Replicas) -> float:
    prices = {kind.name: kind.usd_per_hour for kind in problem.kinds}
    return sum(prices[name] * count for name, count in fleet)
