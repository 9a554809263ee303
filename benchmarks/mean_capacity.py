"""What benchmarks call load 1: the rate at which mean times are just within the service level.

Plans count by the share of requests that keep a promise; benchmarks keep this measure, so that their loads stay what
they were in earlier runs.
"""

from collections.abc import Sequence

from heterodyne.physics.replica.from_layout import placement_of
from heterodyne.physics.serving import Load, ReplicaSpec, Slo, goodput, serve
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.workload import Workload


def mean_capacity_rps(pools: Sequence[LaidOutPool], traffic: Workload, slo: Slo) -> float:
    """Of all replicas together, with the trace's mean lengths and nothing reused."""
    return sum(len(pool.replicas) * _replica_rps(pool, traffic, slo) for pool in pools)


def _replica_rps(pool: LaidOutPool, traffic: Workload, slo: Slo) -> float:
    scheduling = pool.scheduling
    replica = ReplicaSpec(
        placement=placement_of(pool.layout),
        profile=pool.profile,
        kv_capacity_tokens=scheduling.kv_tokens,
        chunk_tokens=scheduling.step_tokens,
    )
    prompt_tokens, output_tokens = traffic.prompt_tokens_mean, traffic.output_tokens_mean
    most = goodput(replica, slo, prompt_tokens=prompt_tokens, output_tokens=output_tokens)
    served = most.served
    if most.concurrency > scheduling.slots:  # the engine takes no more at once
        load = Load(concurrency=scheduling.slots, prompt_tokens=prompt_tokens, output_tokens=output_tokens)
        served = serve(replica, load)
    return served.requests_per_s / pool.slowdown if served else 0.0
