"""How many requests like a trace's a fleet sustains in a second, by the performance model."""

from collections.abc import Sequence

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.replica.of_layout import placement_of
from heterodyne.physics.serving import Load, Replica, Slo, goodput, serve
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
    prompt, output = traffic.prompt_tokens_mean, traffic.output_tokens_mean
    replica = Replica(
        placement=placement_of(pool.layout),
        profile=pool.profile,
        kv_capacity_tokens=pool.scheduling.kv_tokens,
        chunk_tokens=pool.scheduling.step_tokens,
    )
    most = goodput(replica, slo, prompt_tokens=prompt, output_tokens=output)
    served = most.served
    if most.concurrency > pool.scheduling.slots:
        served = serve(replica, Load(concurrency=pool.scheduling.slots, prompt_tokens=prompt, output_tokens=output))
    return served.requests_per_s / pool.slowdown if served else 0.0
