"""How much of what one endless cache would find is found in a fleet's many small ones, and how even the load stays."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from statistics import fmean

from msgspec import Struct

from benchmarks.routing.bakeoff import traffic_of
from benchmarks.routing.fleets import laid_out
from benchmarks.routing.processes import in_parallel
from benchmarks.traces.traces import SYNTHETIC, TOOL_AGENT, Trace
from heterodyne.simulator.report import report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import Workload

FLEET = "8 x H100"  # equal replicas, so that an even load is one number
POLICIES = ("slo", "dynamo", "llm-d-sticky", "sglang-cache-aware", "least-request")
REQUESTS_MAX = 4000  # a whole trace


class Found(Struct, frozen=True, kw_only=True):
    """Means over seeds."""

    trace: str
    load: float
    policy: str
    endless_share: float  # of prompt tokens, that one cache without end would find
    pooled_share: float  # that one cache as large as all the replicas' memory would find, with nothing running in it
    hit_share: float  # that the replicas found
    hottest: float  # requests inside the hottest replica, over time, by the mean of all
    within: float  # share of requests within the service level

    @property
    def of_endless(self) -> float:
        """What was found of what there was."""
        return self.hit_share / self.endless_share

    @property
    def of_pooled(self) -> float:
        """What was found of what their memory could have held."""
        return self.hit_share / self.pooled_share


def prefixes(traces: Mapping[str, Trace], seeds: int, processes: int, loads: Sequence[float]) -> list[Found]:
    """Both Mooncake traces, whole."""
    work = [(name, load, policy) for name in (SYNTHETIC, TOOL_AGENT) for load in loads for policy in POLICIES]
    return in_parallel(partial(_found, traces, seeds), work, processes=processes, word="prefixes")


def _found(traces: Mapping[str, Trace], seeds: int, work: tuple[str, float, str]) -> Found:
    name, load, policy = work
    trace = traces[name]
    endless, pooled, reports = [], [], []
    for seed in range(seeds):
        requests = len(trace.part(seed, REQUESTS_MAX))
        traffic = traffic_of(FLEET, trace, load, seed, requests)
        trial = Trial(policy=policy, seed=seed, slo=trace.slo)
        pools = laid_out(FLEET, seed)
        reports.append(report(run(pools, traffic, trial), trial))
        memory_tokens = sum(pool.scheduling.kv_tokens * len(pool.replicas) for pool in pools)
        endless.append(_share_of_one_cache(traffic, inf))
        pooled.append(_share_of_one_cache(traffic, memory_tokens))
    return Found(
        trace=name,
        load=load,
        policy=policy,
        endless_share=fmean(endless),
        pooled_share=fmean(pooled),
        hit_share=fmean(one.prefix_hit_share for one in reports),
        hottest=fmean(one.inside_hottest / one.inside_mean for one in reports),
        within=fmean(one.attainment for one in reports),
    )


def _share_of_one_cache(traffic: Workload, tokens_max: float) -> float:
    """A block is there as soon as a request with it has come; what was wanted longest ago goes first."""
    blocks_max = tokens_max / traffic.hash_tokens
    known: OrderedDict[int, None] = OrderedDict()
    found = prompts = 0
    for request in traffic:
        prompts += request.prompt_tokens
        held = next((place for place, block in enumerate(request.numbers) if block not in known), len(request.numbers))
        found += min(held * traffic.hash_tokens, request.prompt_tokens - 1)
        for block in reversed(request.numbers):
            known[block] = None
            known.move_to_end(block)
        while len(known) > blocks_max:
            known.popitem(last=False)
    return found / prompts
