"""What a rehearsal's child is given and what it answers: pools in the words of the simulator, requests, policies."""

from typing import Any

from msgspec import Struct

from heterodyne.console.rehearsal.pages import RehearsalRow
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.precision import Precision
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.fleet_file import SimulatedPool


class RehearsalOrder(Struct, frozen=True, kw_only=True):
    """The whole question."""

    model: str
    pools: dict[str, SimulatedPool]  # with hardware, and at least one replica
    arrivals: tuple[TraceRequest, ...]
    policies: tuple[str, ...]
    own_policy: str
    slo_ttft_s: float
    slo_itl_s: float
    hardware: dict[str, dict[str, Any]]  # of the settings of physics
    profiles: tuple[str, ...] | None


class RehearsalResult(Struct, frozen=True, kw_only=True):
    """The whole answer."""

    rows: tuple[RehearsalRow, ...]
    left_out: tuple[str, ...]  # pools, each with the reason
    refused: int  # requests too long for every pool that took part
    speeds: tuple[str, ...]  # what those of each pool rest on


def simulated_pool(pool: PoolSettings, replicas: int) -> SimulatedPool:
    """As the router gets it; one that is started here has the slots it is started with."""
    assert pool.hardware is not None
    return SimulatedPool(
        model=pool.model,
        hardware=pool.hardware,
        # An engine without numbers of its own is taken for the most usual one, as the router takes it.
        engine=EngineKind(pool.engine) if pool.engine in tuple(EngineKind) else EngineKind.VLLM,
        engine_model=pool.shape or pool.model,
        tp=pool.tp,
        precision=None if pool.precision is None else Precision(pool.precision),
        replicas=replicas,
        slots=pool.slots if pool.weights is not None else None,
        context_tokens=pool.context_tokens,
        version=pool.version,
        price_usd_per_hour=pool.price_usd_per_hour,
        price_usd_per_million_prompt_tokens=pool.price_usd_per_million_prompt_tokens,
        price_usd_per_million_completion_tokens=pool.price_usd_per_million_completion_tokens,
        price_usd_per_million_cached_tokens=pool.price_usd_per_million_cached_tokens,
        price_usd_per_million_cache_write_tokens=pool.price_usd_per_million_cache_write_tokens,
        price_long_prompt_tokens=pool.price_long_prompt_tokens,
        price_long_usd_per_million_prompt_tokens=pool.price_long_usd_per_million_prompt_tokens,
        price_long_usd_per_million_completion_tokens=pool.price_long_usd_per_million_completion_tokens,
        price_long_usd_per_million_cached_tokens=pool.price_long_usd_per_million_cached_tokens,
        price_long_usd_per_million_cache_write_tokens=pool.price_long_usd_per_million_cache_write_tokens,
        region=pool.region,
        labels=pool.labels,
        in_flight_max=pool.in_flight_max,
    )
