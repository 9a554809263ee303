"""What a decision costs with everything on: the chain's lookup, the forecasts, the index and the ledger."""

import gc
from collections.abc import Mapping
from heapq import heappop, heappush
from random import Random
from statistics import median
from time import perf_counter, process_time

from msgspec import Struct

from benchmarks.routing.bakeoff import traffic_of
from benchmarks.routing.fleets import FLEETS, MODEL, Kind, laid_out
from benchmarks.traces.traces import AZURE, Trace
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.domain.routing_rule import Reason
from heterodyne.physics.serving import Slo
from heterodyne.routing.kv.chain import Chain, chain_of
from heterodyne.routing.router import Router
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.ticket import Ticket
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial

ROUNDS = 7  # of which the quickest counts: the others shared the machine
DECISIONS = 1000
PACE_REQUESTS = 10_000
PROMPT_BYTES, LONG_BYTES = 8_000, 400_000
TOKENS_PER_BYTE = 0.25
PROMPTS = 64  # different ones that go round
OUTPUT_TOKENS = 200
REPLICA_RPS = 6.0  # which keeps about twenty requests on every replica
KEPT = Slo(ttft_s=10.0, itl_s=1.0)  # a promise that every replica keeps,
BROKEN = Slo(ttft_s=0.01, itl_s=0.001)  # and one that none does, so that every one is forecast
SALT = b"tenant"


class DecisionCost(Struct, frozen=True, kw_only=True):
    """Seconds, the best of several rounds."""

    replicas: int
    is_overload: bool
    choose_s: float  # the replica is named
    decide_s: float  # and the request is entered into the index and the ledger
    whole_s: float  # and its first token and its end are learned from
    least_harm_share: float  # of decisions for which no pool kept the promise


class LongPrompt(Struct, frozen=True, kw_only=True):
    """Of one very long prompt that nobody has seen, on 8 replicas."""

    chain_s: float
    decide_s: float


class Pace(Struct, frozen=True, kw_only=True):
    """Of the simulator, on the large mixed fleet."""

    load: float
    requests_per_s: float


def decision_costs() -> list[DecisionCost]:
    """Small and large, in peace and under too much load."""
    return [
        _cost(name, is_overload=is_overload)
        for name in (fleet.name for fleet in FLEETS if fleet.kind is Kind.MIXED)
        for is_overload in (False, True)
    ]


def long_prompt() -> LongPrompt:
    """Hashing it, and everything after."""
    router, fleet = _router(next(one.name for one in FLEETS if one.kind is Kind.MIXED))
    usable = fleet.by_model[MODEL]
    chance = Random(1)
    chains_s, decisions_s = [], []
    for number in range(5 * ROUNDS):
        prompt = chance.randbytes(LONG_BYTES)
        begun_s = perf_counter()
        chain = chain_of(SALT, prompt, TOKENS_PER_BYTE)
        hashed_s = perf_counter()
        routing_request = _routing_request(chain, LONG_BYTES, KEPT)
        ticket = router.start(
            routing_request, router.decide(routing_request, usable, float(number)).forecast, float(number)
        )
        ended_s = perf_counter()
        chains_s.append(hashed_s - begun_s)
        decisions_s.append(ended_s - begun_s)
        ticket.first_token(number + 0.1)
        ticket.end(number + 0.2, output_tokens=OUTPUT_TOKENS)
    return LongPrompt(chain_s=min(chains_s), decide_s=min(decisions_s))


def simulator_paces(traces: Mapping[str, Trace]) -> list[Pace]:
    """The largest fleet under the Azure trace."""
    name = FLEETS[-1].name
    paces = []
    for load in (0.5, 0.8, 1.0):
        traffic = traffic_of(name, traces[AZURE], load, 0, PACE_REQUESTS)
        trial = Trial(policy="slo", seed=0, slo=traces[AZURE].slo)
        gc.collect()
        begun_s = process_time()
        run(laid_out(name, 0), traffic, trial)
        paces.append(Pace(load=load, requests_per_s=PACE_REQUESTS / (process_time() - begun_s)))
    return paces


def _cost(name: str, *, is_overload: bool) -> DecisionCost:
    rounds = [_round(name, is_overload=is_overload) for _ in range(ROUNDS)]
    return DecisionCost(
        replicas=next(one.replicas for one in FLEETS if one.name == name),
        is_overload=is_overload,
        choose_s=min(one[0] for one in rounds),
        decide_s=min(one[1] for one in rounds),
        whole_s=min(one[2] for one in rounds),
        least_harm_share=rounds[-1][3],
    )


def _round(name: str, *, is_overload: bool) -> tuple[float, float, float, float]:
    """Median seconds of a decision, with its start, and with all of its life; requests fare as the router foretold."""
    router, fleet = _router(name)
    usable = fleet.by_model[MODEL]
    prompts = [Random(number).randbytes(PROMPT_BYTES) for number in range(PROMPTS)]
    slo = BROKEN if is_overload else KEPT
    routing_requests = [
        _routing_request(chain_of(SALT, prompt, TOKENS_PER_BYTE), PROMPT_BYTES, slo) for prompt in prompts
    ]
    coming: list[tuple[float, int, Ticket]] = []  # first tokens, and ends below zero
    warm = int(5.0 * REPLICA_RPS * len(usable))
    chosen_s, started_s, lives_s = [], [], []
    now_s, harmed = 0.0, 0
    gc.collect()
    gc.disable()
    for number in range(1, warm + DECISIONS + 1):
        now_s += 1.0 / (REPLICA_RPS * len(usable))
        routing_request = routing_requests[number % PROMPTS]
        begun_s = perf_counter()
        choice = router.decide(routing_request, usable, now_s)
        named_s = perf_counter()
        ticket = router.start(routing_request, choice.forecast, now_s)
        ended_s = perf_counter()
        heappush(coming, (now_s + choice.forecast.ttft_s, number, ticket))
        took_s = _pass(coming, now_s)
        if number > warm:
            chosen_s.append(named_s - begun_s)
            started_s.append(ended_s - begun_s)
            lives_s.append(ended_s - begun_s + took_s)
            harmed += choice.reason is Reason.LEAST_HARM
    gc.enable()
    return median(chosen_s), median(started_s), median(lives_s), harmed / DECISIONS


def _pass(coming: list[tuple[float, int, Ticket]], now_s: float) -> float:
    """What is due happens; the seconds that the router took for it."""
    took_s = 0.0
    while coming and coming[0][0] <= now_s:
        at_s, number, ticket = heappop(coming)
        begun_s = perf_counter()
        if number > 0:
            ticket.first_token(at_s)
        else:
            ticket.end(at_s, output_tokens=OUTPUT_TOKENS, cached_tokens=0)
        took_s += perf_counter() - begun_s
        if number > 0:
            heappush(coming, (at_s + OUTPUT_TOKENS * ticket.forecast.itl_s, -number, ticket))
    return took_s


def _router(name: str) -> tuple[Router, FleetSnapshot]:
    pools = laid_out(name, 0)
    fleet = FleetSnapshot.of(1, tuple(replica for pool in pools for replica in pool.replicas))
    priors = {pool.name: pool.prior() for pool in pools}
    return Router(fleet, prior_of=lambda one: priors[one.pool], chance=Random(1).random, now_s=0.0), fleet


def _routing_request(chain: Chain, size: int, slo: Slo) -> RoutingRequest:
    return RoutingRequest(
        model=MODEL,
        prompt_tokens=int(size * TOKENS_PER_BYTE),
        output_tokens=OUTPUT_TOKENS,
        chain=chain,
        session="conversation",
        ttft_slo_s=slo.ttft_s,
        itl_slo_s=slo.itl_s,
    )
