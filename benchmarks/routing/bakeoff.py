"""The bake-off: every policy on the same fleet, requests and seed, cell by cell."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import inf

from msgspec import Struct, structs

from benchmarks.mean_capacity import mean_capacity_rps
from benchmarks.routing.fleets import FLEETS, Fleet, laid_out
from benchmarks.routing.processes import in_parallel
from benchmarks.traces.traces import AZURE, SERVEGEN, SYNTHETIC, TOOL_AGENT, Trace
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.report import SimulationReport, report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import Workload, workload

OURS = ("slo", "cost")
PEERS = (
    "round-robin",
    "least-request",
    "power-of-two",
    "sglang-cache-aware",
    "llm-d",
    "llm-d-sticky",
    "dynamo",
    "litellm-latency",
    "litellm-cost",
)
POLICIES = (*OURS, *PEERS)
# llm-d goes by engines' gauges alone and reads them twenty times a second; the others get ours, as a gateway has them.
GAUGE_INTERVALS_S = {"llm-d": 0.05}
ARRIVALS_S = 60.0  # that a run should last
LARGE = 16  # replicas, from which on fewer traces and loads are run
SAMPLE = 2000  # requests to know a trace's lengths by


class Effort(Struct, frozen=True, kw_only=True):
    """How much is run."""

    seeds: int
    requests_min: int
    requests_max: int
    loads: tuple[float, ...]
    loads_large: tuple[float, ...]  # of large fleets, which run Azure and Mooncake synthetic alone
    predicted_requests: int  # of a run that forecasts are taken from
    prefix_loads: tuple[float, ...]


class Cell(Struct, frozen=True, kw_only=True):
    """One comparison."""

    fleet: str
    trace: str
    load: float  # of what the fleet sustains by the performance model at its true speeds


class Score(Struct, frozen=True, kw_only=True):
    """Of one policy and seed."""

    within: float  # share of requests
    usd: float  # of the whole fleet while requests came, for 1M output tokens within; infinite: none were
    usd_busy: float  # the same of replicas while they computed


class Outcome(Struct, frozen=True, kw_only=True):
    """One cell and seed."""

    cell: Cell
    seed: int
    requests: int
    arrivals_s: float
    scores: dict[str, Score]


def cells(effort: Effort) -> list[Cell]:
    """Every fleet under every trace and load that it is run with."""
    return [
        Cell(fleet=fleet.name, trace=trace, load=load)
        for fleet in FLEETS
        for trace in _traces(fleet)
        for load in (effort.loads_large if fleet.replicas > LARGE else effort.loads)
    ]


def bake_off(traces: Mapping[str, Trace], effort: Effort, processes: int) -> list[Outcome]:
    """All cells and seeds; the longest begin first, so that no process waits for another at the end."""
    work = [(cell, seed) for cell in reversed(cells(effort)) for seed in range(effort.seeds)]
    return in_parallel(partial(_play, traces, effort), work, processes=processes, word="bake-off")


def traffic_of(fleet: str, trace: Trace, load: float, seed: int, requests: int) -> Workload:
    """So many requests of a trace, as often as makes this load."""
    log = trace.part(seed, requests)
    return workload(log, rate=load * _capacity_rps(fleet, trace, seed, log), requests=requests)


def _play(traces: Mapping[str, Trace], effort: Effort, work: tuple[Cell, int]) -> Outcome:
    cell, seed = work
    trace = traces[cell.trace]
    rate = cell.load * _capacity_rps(cell.fleet, trace, seed, trace.part(seed, SAMPLE))
    requests = int(min(max(ARRIVALS_S * rate, effort.requests_min), effort.requests_max))
    traffic = traffic_of(cell.fleet, trace, cell.load, seed, requests)
    reports = {policy: _report(cell.fleet, trace, traffic, policy, seed) for policy in POLICIES}
    return Outcome(
        cell=cell,
        seed=seed,
        requests=requests,
        arrivals_s=reports[OURS[0]].arrivals_s,
        scores={policy: _score(one) for policy, one in reports.items()},
    )


def _report(fleet: str, trace: Trace, traffic: Workload, policy: str, seed: int) -> SimulationReport:
    trial = Trial(policy=policy, seed=seed, slo=trace.slo)
    if policy in GAUGE_INTERVALS_S:
        trial = structs.replace(trial, gauge_interval_s=GAUGE_INTERVALS_S[policy], gauge_turns=1)
    return report(run(laid_out(fleet, seed), traffic, trial), trial)


def _score(one: SimulationReport) -> Score:
    assert one.usd is not None
    assert one.usd_busy is not None
    millions = one.output_tokens_within_slo / 1e6
    usd = one.usd * one.arrivals_s / one.simulated_s
    return Score(
        within=one.attainment,
        usd=usd / millions if millions else inf,
        usd_busy=one.usd_busy / millions if millions else inf,
    )


def _traces(fleet: Fleet) -> Sequence[str]:
    return (AZURE, SYNTHETIC) if fleet.replicas > LARGE else (AZURE, SYNTHETIC, TOOL_AGENT, SERVEGEN)


def _capacity_rps(fleet: str, trace: Trace, seed: int, log: Iterable[TraceRequest]) -> float:
    return mean_capacity_rps(laid_out(fleet, seed), workload(list(log)), trace.slo)
