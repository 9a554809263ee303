"""How many requests like a trace's a fleet sustains in a second, by the performance model."""

from collections.abc import Sequence

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.pool_capacity import replica_requests_per_s
from heterodyne.planning.traffic.request_shape import RequestShape
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.workload import Workload


def capacity_rps(pools: Sequence[LaidOutPool], traffic: Workload, slo: Slo) -> float:
    """Of all replicas together, with mean lengths, nothing reused, and mean times within the service level.

    A fleet that finds prompts in its caches sustains more; a trace of very unequal requests less.
    """
    total = sum(len(pool.replicas) * _replica_rps(pool, traffic, slo) for pool in pools)
    if not total:
        raise InvalidSpec(
            f"no pool answers a mean request of the trace ({traffic.prompt_tokens_mean:.0f} tokens in, "
            f"{traffic.output_tokens_mean:.0f} out) within {slo.ttft_s:g} s and {slo.itl_s * 1000:g} ms a token, even "
            "alone: say --rate instead of --load, or allow more"
        )
    return total


def _replica_rps(pool: LaidOutPool, traffic: Workload, slo: Slo) -> float:
    shape = RequestShape(prompt_tokens=traffic.prompt_tokens_mean, output_tokens=traffic.output_tokens_mean)
    rate = replica_requests_per_s(pool.layout, pool.profile, pool.scheduling, shape=shape, slo=slo)
    return rate / pool.slowdown
