"""Replicas, priors and routers with round numbers, so that a test can say what a forecast must be."""

from collections.abc import Callable, Mapping
from typing import Any

from heterodyne.domain.fleet import FleetSnapshot, Health, ModelRule, PoolName, Replica, ReplicaId
from heterodyne.domain.price import Price
from heterodyne.domain.routing_rule import RoutingRule
from heterodyne.routing.forecast import forecast_on
from heterodyne.routing.prediction.pool_speed import PoolSpeed
from heterodyne.routing.prediction.prior import Prior
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.ticket import Ticket

# A prompt of 1000 tokens takes 0.1 s, a step 10 ms and 0.1 ms for each sequence.
ROUND = Prior(
    fixed_s=0.02,
    prompt_s=0.0,
    prompt_token_s=1e-4,
    prompt_token_squared_s=0.0,
    step_s=0.01,
    sequence_s=1e-4,
    context_token_s=1e-7,
    slots=100,
    kv_tokens=200_000,
)
LATER_S = 1000.0
# By name, as a compiled class does not tell them.
FORECAST_FIELDS = (
    *("state", "ttft_band", "ttft_s", "ttft_low_s", "ttft_high_s", "itl_s", "itl_low_s", "itl_high_s"),
    *("risk", "share_s", "usd", "load"),
    *("cached_tokens", "work_s", "steps_s", "backlog_s", "room_s", "link_s"),
)


def even() -> float:
    """Chance that neither explores nor breaks a tie for the second."""
    return 0.5


def replica(name: str, pool: str = "p", *, usd_per_hour: float | None = None, **facts: object) -> Replica:
    """A ready one."""
    said = {
        "id": ReplicaId(name),
        "pool": PoolName(pool),
        "model": "m",
        "engine": "vllm",
        "host": "h",
        "port": 1,
        "health": Health.READY,
        "price": Price(usd_per_hour=usd_per_hour),
        **facts,
    }
    return Replica(**said)  # type: ignore[arg-type]


def fleet(*replicas: Replica, rule: RoutingRule | None = None, version: int = 1) -> FleetSnapshot:
    """These, with one rule for all models."""
    rules = {one.model: ModelRule(routing=rule) for one in replicas} if rule is not None else {}
    return FleetSnapshot.of(version, replicas, rules)


def router(
    *replicas: Replica,
    rule: RoutingRule | None = None,
    priors: Mapping[str, Prior] | None = None,
    chance: Callable[[], float] = even,
) -> Router:
    """A router of these replicas; pools that are not in `priors` have the round one."""
    return Router(
        fleet(*replicas, rule=rule),
        prior_of=lambda one: (priors or {}).get(one.pool, ROUND),
        chance=chance,
        now_s=0.0,
    )


def replica_state(
    name: str = "a", place: int = 0, *, prior: Prior = ROUND, speed: PoolSpeed | None = None, **facts: object
) -> ReplicaState:
    """A seat at time zero."""
    return ReplicaState(replica(name, **facts), place, speed or PoolSpeed(prior), 0.0)  # type: ignore[arg-type]


def routing_request(prompt_tokens: int = 1000, output_tokens: float = 100.0, **facts: object) -> RoutingRequest:
    """A request for the model `m`."""
    return RoutingRequest(model="m", prompt_tokens=prompt_tokens, output_tokens=output_tokens, **facts)  # type: ignore[arg-type]


def figures_of(forecast: Forecast) -> dict[str, Any]:
    """All of it, to be compared."""
    return {name: getattr(forecast, name) for name in FORECAST_FIELDS}


def changed(forecast: Forecast, **figures: Any) -> Forecast:
    """The same with other figures."""
    return Forecast(**figures_of(forecast) | figures)


def send(replica_state: ReplicaState, request: RoutingRequest, now_s: float = 0.0) -> Ticket:
    """The request goes there, whatever anybody thinks of it."""
    return Ticket(request, forecast_on(replica_state, request, 0.0, now_s), None, now_s)


def fill(replica_state: ReplicaState, decoding: int, request: RoutingRequest | None = None) -> list[Ticket]:
    """So many requests decode there, and nothing but that, from `LATER_S` on."""
    said = (request or routing_request()).copied()
    said.streams = False
    return [send(replica_state, said) for _ in range(decoding)]
