"""Strategies on recorded traffic: cells of trace, network and load; every way to serve on the same chips."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from pathlib import Path

from msgspec import Struct, structs

from benchmarks.kv.agents import Session, agents, recorded_sessions
from benchmarks.kv.fleets import NETWORKS, REPLICAS, STORE, KvNetwork, Way, pools_of
from benchmarks.kv.results import StrategyRun
from benchmarks.kv.roles import advised_prefilling
from benchmarks.mean_capacity import mean_capacity_rps
from benchmarks.routing.processes import in_parallel
from benchmarks.traces.traces import LONG, SYNTHETIC, TOOL_AGENT, read_traces
from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.planning.traffic.request_shape import RequestShape
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.kv.link_change import LinkChange
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import Workload, workload

AGENTS = "coding agents"
TRACES = (SYNTHETIC, TOOL_AGENT, AGENTS)
LOADS = (1.0,)  # of what the fleet sustains with nothing reused
REQUESTS = 2000
AGENTS_EACH = 40  # through each recorded session
SEEDS = (0, 1, 2)
MORE_SEEDS = (*SEEDS, 3, 4, 5, 7, 8, 9)  # of a log that is short, so that chance weighs more
TUNED_SEED = 6  # the part of the trace that choices were made on
PREFIX, STORED, SPLIT, AUTO = "prefix", "store", "split", "auto"
FREE = "all reusable tokens free"  # no way to serve: what none can be better than
WAYS = (
    Way(name="stateless", kv=KvStrategy.STATELESS),
    Way(name="sticky", kv=KvStrategy.STICKY),
    Way(name=PREFIX, kv=KvStrategy.PREFIX),
    Way(name=STORED, kv=KvStrategy.STORE, has_tiers=True),
    Way(name=SPLIT, kv=KvStrategy.SPLIT, prefilling=1),  # as many as the planner says
    Way(name=AUTO, kv=KvStrategy.AUTO, has_tiers=True),
    Way(name=FREE, kv=KvStrategy.STATELESS),
)
THROTTLED = 100.0  # times as slow, in the middle third
Part = Callable[[int], list[TraceRequest]]  # of a seed


class Cell(Struct, frozen=True, kw_only=True):
    """Comparisons on every network under the same traffic."""

    trace: str
    load: float
    is_throttled: bool = False


def parts(data: Path) -> Mapping[str, Part]:
    """What a seed gets of each trace."""
    logs = read_traces(data)
    sessions = recorded_sessions(data / "traces" / "tracelab_example_rounds.jsonl.gz")
    return {
        **{name: partial(_part, logs[name].part) for name in (SYNTHETIC, TOOL_AGENT)},
        AGENTS: partial(_agents, sessions),
    }


def seeds_of(trace: str) -> tuple[int, ...]:
    """That a trace is judged by; choices were made on none of them."""
    return MORE_SEEDS if trace == TOOL_AGENT else SEEDS


def strategy_runs(data: Path, processes: int) -> tuple[list[StrategyRun], list[StrategyRun]]:
    """Every way in every cell, and what is left of the best where links are throttled for a while."""
    cells = [
        Cell(trace=trace, load=load, is_throttled=is_throttled)
        for trace in TRACES
        for load in LOADS
        for is_throttled in (False, True)
    ]
    found = in_parallel(partial(_cell, parts(data)), cells, processes=processes, word="strategies")
    plain, throttled = [], []
    for cell, runs in zip(cells, found, strict=True):
        (throttled if cell.is_throttled else plain).extend(runs)
    return plain, throttled


def _agents(sessions: Sequence[Session], seed: int) -> list[TraceRequest]:
    return agents(sessions, count=AGENTS_EACH, seed=seed)


def _part(part: Callable[[int, int], list[TraceRequest]], seed: int) -> list[TraceRequest]:
    return part(seed, REQUESTS)


def _cell(logs: Mapping[str, Part], cell: Cell) -> list[StrategyRun]:
    """Ways without transfers are the same on every network."""
    part, fastest = logs[cell.trace], NETWORKS[0]
    if cell.is_throttled:
        return [_run(cell, fastest, way, part) for way in WAYS if way.name in {PREFIX, AUTO}]
    once = {way.name: _run(cell, fastest, way, part) for way in WAYS if not way.needs_network}
    return [
        _run(cell, network, way, part) if way.needs_network else structs.replace(once[way.name], network=network.name)
        for network in NETWORKS
        for way in WAYS
    ]


def _run(cell: Cell, network: KvNetwork, way: Way, part: Part) -> StrategyRun:
    ttft_s: list[float] = []
    itl_s: list[float] = []
    requests = arrived = failed = cached = prompts = good = within = 0
    usd = 0.0
    seeds = seeds_of(cell.trace)
    for seed in seeds:
        log = part(seed)
        traffic = traffic_of(log, cell.load, is_free=way.name == FREE)
        if way.prefilling:
            way = structs.replace(way, prefilling=_prefilling(traffic, network))
        third_s = traffic.arrivals[-1].at_s / 3
        trial = Trial(
            policy="slo",
            seed=seed,
            slo=LONG,
            kv=way.kv,
            link_changes=_throttling(third_s) if cell.is_throttled else (),
        )
        pools = pools_of(way, network)
        tally = run(pools, traffic, trial)
        ttft_s += tally.ttft_s
        itl_s += tally.itl_s
        requests += len(tally.ttft_s) + tally.refused
        cached += tally.cached_tokens
        prompts += tally.prompt_tokens
        for ttft, itl, tokens in zip(tally.ttft_s, tally.itl_s, tally.output_tokens, strict=True):
            if ttft <= LONG.ttft_s and itl <= LONG.itl_s:
                within += 1
                good += tokens
        usd += sum((one.listed.price.usd_per_hour or 0.0) for one in tally.replicas) * tally.last_came_at_s / 3600
        arrived += tally.kv_arrived
        failed += tally.kv_failed
    return StrategyRun(
        trace=cell.trace,
        network=network.name,
        load=cell.load,
        way=way.name,
        prefilling=way.prefilling,
        requests=requests,
        ttft_p50_s=_quantile(ttft_s, 0.5),
        ttft_p90_s=_quantile(ttft_s, 0.9),
        ttft_p99_s=_quantile(ttft_s, 0.99),
        itl_p90_s=_quantile(itl_s, 0.9),
        within=within / requests,
        usd_per_million=usd / good * 1e6 if good else inf,
        cached=cached / prompts,
        arrived=arrived,
        failed=failed,
        reusable=sum(reusable(part(seed)) for seed in seeds) / len(seeds),
    )


def reusable(log: Sequence[TraceRequest]) -> float:
    """Of its prompt tokens, those that an endless memory would have had."""
    return sum(_known(log)) / sum(one.prompt_tokens for one in log)


def _known(log: Sequence[TraceRequest]) -> list[int]:
    """Tokens at the beginning of each prompt that prompts before it began with, too."""
    seen: set[int | str] = set()
    known = []
    for one in log:
        blocks = one.block_hashes
        held = next((place for place, block in enumerate(blocks) if block not in seen), len(blocks))
        known.append(min(one.prompt_tokens, held * one.block_tokens))
        seen.update(blocks)
    return known


def without_reusable(log: Sequence[TraceRequest]) -> list[TraceRequest]:
    """As if those took no computing, no bringing and no memory, wherever a request goes: its prompt is the rest."""
    return [
        structs.replace(
            one,
            prompt_tokens=max(1, one.prompt_tokens - known),
            block_hashes=one.block_hashes[known // one.block_tokens :] if known else one.block_hashes,
        )
        for one, known in zip(log, _known(log), strict=True)
    ]


def traffic_of(log: Sequence[TraceRequest], load: float, *, is_free: bool = False) -> Workload:
    """At this share of what the fleet sustains with nothing reused."""
    capacity_rps = mean_capacity_rps(pools_of(WAYS[0], NETWORKS[0]), workload(log), LONG)
    return workload(without_reusable(log) if is_free else log, rate=load * capacity_rps)


def _prefilling(traffic: Workload, network: KvNetwork) -> int:
    """As the planner advises; where it would rather not split, as on the fastest network."""
    shape = RequestShape(prompt_tokens=traffic.prompt_tokens_mean, output_tokens=traffic.output_tokens_mean)
    for one in (network, NETWORKS[0]):
        advised = advised_prefilling(shape, LONG, one)
        if advised:
            return advised
    return REPLICAS // 2


def _throttling(third_s: float) -> tuple[LinkChange, ...]:
    return tuple(
        LinkChange(at_s=at_s, name=name, slowdown=slowdown)
        for at_s, slowdown in ((third_s, THROTTLED), (2 * third_s, 1.0))
        for name in ("both", STORE)
    )


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
