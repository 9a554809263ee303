"""`python -m benchmarks.routing.kv_decision_cost`: what the KV's origin adds to a decision, by strategy and fleet size.

Four pools of equal parts: two that do all of a request, one that computes prompts and one that answers. All replicas
have something to do, copy KV over links of 25 GB/s, and share a store. Each figure is the quickest of several rounds,
for others share the machine.
"""

import gc
from collections.abc import Callable
from random import Random

from msgspec import structs

from benchmarks.decision.situations import IN_FLIGHT_MAX, MODEL, NOW_S, OUTPUT_TOKENS, PRIOR, SALT
from benchmarks.decision.timing import rounds_us
from heterodyne.domain.fleet import FleetSnapshot, Health, ModelRule, PoolName, Replica, ReplicaId
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.domain.routing_rule import KvStrategy, RoutingRule
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.routing.kv.chain import chain_of
from heterodyne.routing.router import Router
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry.build_form import build_form

CANDIDATES = (8, 64, 256)
LIMIT_US = 150.0  # for 64
STRATEGIES = (KvStrategy.PREFIX, KvStrategy.STORE, KvStrategy.SPLIT, KvStrategy.AUTO)
ROLES = (ReplicaRole.BOTH, ReplicaRole.BOTH, ReplicaRole.PREFILL, ReplicaRole.DECODE)
BYTES_PER_TOKEN = 4
SHORT_TOKENS, LONG_TOKENS, SHARED_TOKENS = 30, 16_000, 2_000
HOLDER_IN_FLIGHT = 16  # so that it is sooner answered elsewhere
ROUNDS, ROUND_S = 80, 0.003
STORE = KvStoreSettings(medium="memory", capacity_gb=1000.0)
LINKED = structs.replace(PRIOR, kv_token_bytes=131_072.0, kv_link_bytes_per_s=25e9)


def main() -> None:
    """One line for each strategy and prompt."""
    print(f"{build_form()} form; microseconds per decision, of which {CANDIDATES[1]} may take {LIMIT_US:g}")
    print(f"{'strategy':10}{'prompt':12}", *(f"{candidates:>8}" for candidates in CANDIDATES))
    gc.collect()
    gc.freeze()
    for strategy in STRATEGIES:
        for name, prompt in PROMPTS.items():
            cells = (f"{_quickest_us(_decision(strategy, candidates, prompt)):8.1f}" for candidates in CANDIDATES)
            print(f"{strategy:10}{name:12}", *cells, flush=True)


PROMPTS: dict[str, tuple[int, int]] = {  # tokens, and how many of them one busy replica holds
    "short": (SHORT_TOKENS, 0),
    "cold": (LONG_TOKENS, 0),
    "shared": (LONG_TOKENS, SHARED_TOKENS),
    "warm": (LONG_TOKENS, LONG_TOKENS),
}


def _decision(strategy: KvStrategy, candidates: int, prompt: tuple[int, int]) -> Callable[[], object]:
    chance = Random(7)
    replicas = tuple(_replica(number, len(ROLES) * number // candidates) for number in range(candidates))
    rule = ModelRule(routing=RoutingRule(kv=strategy, ttft_slo_s=2.0, itl_slo_s=0.1))
    fleet = FleetSnapshot.of(1, replicas, {MODEL: rule})
    router = Router(fleet, prior_of=lambda _: LINKED, chance=chance.random, now_s=0.0, kv_stores={"shared": STORE})
    usable = fleet.by_model[MODEL]
    for number, replica in enumerate(replicas):
        for _ in range(chance.randint(1, IN_FLIGHT_MAX)):
            _send(router, replica, _request(chance.randbytes(SHARED_TOKENS)))
        if prompt[1] == SHARED_TOKENS or (prompt[1] and number == 0):
            held = bytes(BYTES_PER_TOKEN * prompt[1])
            for _ in range(HOLDER_IN_FLIGHT if number == 0 else 1):
                _send(router, replica, _request(held))
    request = _request(bytes(BYTES_PER_TOKEN * prompt[0]))
    return lambda: router.decide(request, usable, NOW_S)


def _replica(number: int, pool: int) -> Replica:
    return Replica(
        id=ReplicaId(f"r{number}"),
        pool=PoolName(f"p{pool}"),
        model=MODEL,
        engine="vllm",
        host="h",
        port=1,
        health=Health.READY,
        role=ROLES[pool],
        kv_transfer="dynamo",
        kv_layout="one",
        kv_store="shared",
        kv_host_bytes=10**11,
    )


def _request(prompt: bytes) -> RoutingRequest:
    return RoutingRequest(
        model=MODEL,
        prompt_tokens=len(prompt) // BYTES_PER_TOKEN,
        output_tokens=OUTPUT_TOKENS,
        chain=chain_of(SALT, prompt, 1 / BYTES_PER_TOKEN),
        ttft_slo_s=2.0,
        itl_slo_s=0.1,
    )


def _send(router: Router, replica: Replica, request: RoutingRequest) -> None:
    ticket = router.start(request, router.forecast(request, replica.id, NOW_S), NOW_S)
    ticket.first_token(NOW_S)


def _quickest_us(decide: Callable[[], object]) -> float:
    return min(rounds_us(decide, rounds=ROUNDS, round_s=ROUND_S))


if __name__ == "__main__":
    main()
