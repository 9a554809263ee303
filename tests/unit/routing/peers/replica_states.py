"""Seats and asks with the few facts that a peer looks at."""

from typing import Any

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.price import Price
from heterodyne.routing.kv.chain import EMPTY, Chain
from heterodyne.routing.picker import FinishedRequestStats
from heterodyne.routing.prediction.pool_speed import PoolSpeed
from heterodyne.routing.prediction.prior import UNKNOWN, Prior
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

NO_PRICE = Price()


def replica_state(
    name: str,
    place: int,
    *,
    load: EngineLoad | None = None,
    price: Price = NO_PRICE,
    prior: Prior = UNKNOWN,
    in_flight: int = 0,
    waiting_tokens: float = 0.0,
) -> ReplicaState:
    replica = Replica(
        id=ReplicaId(name),
        pool=PoolName("p"),
        model="m",
        engine="vllm",
        host="h",
        port=1,
        load=load,
        price=price,
    )
    made = ReplicaState(replica, place, PoolSpeed(prior), 0.0)
    made.in_flight = in_flight
    made.waiting_tokens = waiting_tokens
    return made


def three(**facts: Any) -> tuple[ReplicaState, ReplicaState, ReplicaState]:
    return replica_state("a", 0, **facts), replica_state("b", 1, **facts), replica_state("c", 2, **facts)


def chain(*blocks: int, block_tokens: int = 100) -> Chain:
    """Blocks of one size, each named by a number."""
    return Chain(blocks, tuple(block_tokens * count for count in range(1, len(blocks) + 1)))


def routing_request(prompt_tokens: int = 1000, prompt: Chain = EMPTY, session: str = "") -> RoutingRequest:
    return RoutingRequest(model="m", prompt_tokens=prompt_tokens, output_tokens=100.0, chain=prompt, session=session)


def ended(
    total_s: float = 1.0, *, ttft_s: float | None = None, tokens: int = 10, is_complete: bool = True
) -> FinishedRequestStats:
    return FinishedRequestStats(ttft_s=ttft_s, total_s=total_s, output_tokens=tokens, is_complete=is_complete)


def first() -> float:
    """Chance that always takes the first of equals."""
    return 0.0


def last() -> float:
    """Chance that always takes the last of equals."""
    return 0.999999
