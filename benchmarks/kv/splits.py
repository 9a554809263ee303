"""Replicas with one role each beside as many that do both: at equal cost, by prompt length, network and load."""

from collections.abc import Sequence
from random import Random

from msgspec import Struct

from benchmarks.kv.fleets import EIGHT, NETWORKS, KvNetwork, Shape, Way, pools_of
from benchmarks.kv.results import SplitRun
from benchmarks.kv.roles import SHARE, advice
from benchmarks.routing.processes import in_parallel
from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.physics.replica.step_clock import PromptChunk
from heterodyne.physics.serving import Slo
from heterodyne.planning.traffic.request_shape import RequestShape
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload

PROMPTS = (2048, 4096, 8192, 16384, 32768)
ANSWER = 200
LOADS = (0.7, 1.0, 1.3)  # of the largest rate at which mixed replicas keep the SLO
ITL_S = 0.025
TTFT_ALONE = 4.0  # times what the prompt takes alone that its first token may take,
TTFT_LEAST_S = 0.5
ARRIVALS_S = 10.0  # that a run should last,
REQUESTS_MIN, REQUESTS_MAX = 250, 1200
SEED = 0
HALVINGS = 4
MIXED = Way(name="mixed", kv=KvStrategy.PREFIX)
SIGMA = 0.3  # of the logarithms of lengths


class Question(Struct, frozen=True, kw_only=True):
    """What is asked of a fleet."""

    lengths: RequestShape  # the means
    slo: Slo
    shape: Shape = EIGHT
    draws: Sequence[tuple[int, int]] = ()  # of recorded requests, one after the other; none: about the means


class Served(Struct, frozen=True, kw_only=True):
    """What a fleet made of a rate."""

    within: float
    ttft_p90_s: float


def split_runs(processes: int) -> list[SplitRun]:
    """Every length, network and load."""
    found = in_parallel(_length, PROMPTS, processes=processes, word="splits")
    return [one for runs in found for one in runs]


def split_way(prefilling: int) -> Way:
    """So many replicas compute prompts only."""
    return Way(name="split", kv=KvStrategy.SPLIT, prefilling=prefilling)


def slo_for(prompt_tokens: int, shape: Shape = EIGHT) -> Slo:
    """A first token in a few times what the prompt takes alone."""
    clock = pools_of(MIXED, NETWORKS[0], shape)[0].clock()
    alone_s = clock.ahead_s(prompt_tokens, 0) + clock.chunks_s([PromptChunk(0, prompt_tokens)])
    return Slo(ttft_s=max(TTFT_LEAST_S, TTFT_ALONE * alone_s), itl_s=ITL_S)


def serve(question: Question, way: Way, network: KvNetwork, rate: float) -> Served:
    """Poisson arrivals; every prompt is new."""
    pools, slo = pools_of(way, network, question.shape), question.slo
    log = _log(question, rate, pools[0].sequence_tokens_max)
    tally = run(pools, workload(log), Trial(policy="slo", seed=SEED, slo=slo, kv=way.kv))
    within = sum(ttft <= slo.ttft_s and itl <= slo.itl_s for ttft, itl in zip(tally.ttft_s, tally.itl_s, strict=True))
    ttft_s = sorted(tally.ttft_s)
    return Served(within=within / len(log), ttft_p90_s=ttft_s[int(0.9 * len(ttft_s))])


def most_rps(question: Question, way: Way, network: KvNetwork, *, guess_rps: float, halvings: int = HALVINGS) -> float:
    """The largest rate at which nine of ten requests are within the SLO; 0 where not even a trickle is."""
    low, high, rate = 0.0, 3.0 * guess_rps, guess_rps
    for _ in range(halvings + 1):
        if serve(question, way, network, rate).within >= SHARE:
            low = rate
        else:
            high = rate
        rate = (low + high) / 2
    return low


def prefilling_for(question: Question, network: KvNetwork) -> int:
    """As the planner advises; where it would not split for this network, as for the fastest."""
    advised = advice(question.lengths, question.slo, network, question.shape)
    if advised.split_requests_per_s:
        return advised.prefilling
    return advice(question.lengths, question.slo, NETWORKS[0], question.shape).prefilling


def _length(tokens: int) -> list[SplitRun]:
    """Mixed replicas hand nothing over: they are the same on every network."""
    question = Question(lengths=RequestShape(prompt_tokens=tokens, output_tokens=ANSWER), slo=slo_for(tokens))
    planned = advice(question.lengths, question.slo, NETWORKS[0])
    mixed_rps = most_rps(question, MIXED, NETWORKS[0], guess_rps=planned.mixed_requests_per_s)
    mixed = {load: serve(question, MIXED, NETWORKS[0], load * mixed_rps) for load in LOADS}
    runs = []
    for network in NETWORKS:
        way = split_way(prefilling_for(question, network))
        split_rps = most_rps(question, way, network, guess_rps=mixed_rps)
        for load in LOADS:
            served = serve(question, way, network, load * mixed_rps)
            runs.append(
                SplitRun(
                    prompt_tokens=tokens,
                    network=network.name,
                    load=load,
                    prefilling=way.prefilling,
                    mixed_requests_per_s=mixed_rps,
                    split_requests_per_s=split_rps,
                    mixed_within=mixed[load].within,
                    split_within=served.within,
                    mixed_ttft_p90_s=mixed[load].ttft_p90_s,
                    split_ttft_p90_s=served.ttft_p90_s,
                )
            )
    return runs


def near(prefilling: int, replicas: int) -> range:
    """Ratios about this one."""
    return range(max(1, prefilling - 1), min(replicas - 1, prefilling + 1) + 1)


def _log(question: Question, rate: float, tokens_max: int) -> list[TraceRequest]:
    chance = Random(f"splits {SEED}")
    at_s, log = 0.0, []
    for number in range(int(min(max(ARRIVALS_S * rate, REQUESTS_MIN), REQUESTS_MAX))):
        at_s += chance.expovariate(rate)
        prompt, answer = _lengths(question, number, chance)
        prompt = min(prompt, tokens_max - answer)
        blocks = tuple(f"{number} {block}" for block in range(max(1, prompt // 512)))
        log.append(TraceRequest(at_s=at_s, prompt_tokens=prompt, output_tokens=answer, block_hashes=blocks))
    return log


def _lengths(question: Question, number: int, chance: Random) -> tuple[int, int]:
    """Recorded, or a third shorter to a third longer than the mean for most."""
    if question.draws:
        return question.draws[number % len(question.draws)]
    means = question.lengths
    prompt, answer = (
        max(2, round(mean * chance.lognormvariate(-SIGMA * SIGMA / 2, SIGMA)))
        for mean in (means.prompt_tokens, means.output_tokens)
    )
    return prompt, answer
