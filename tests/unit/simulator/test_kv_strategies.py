"""Whole runs of the router that serves, with KV that moves."""

from math import inf

from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.physics.serving import Slo
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.fleet import LaidOutPool, lay_out
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool
from heterodyne.simulator.kv.link_change import LinkChange
from heterodyne.simulator.report import SimulationReport, report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload


def _pool(replicas: int, role: ReplicaRole = ReplicaRole.BOTH) -> SimulatedPool:
    return SimulatedPool(
        model="llama-3.1-8b",
        hardware="h100-sxm",
        replicas=replicas,
        role=role,
        kv_transfer="dynamo",
        kv_store="shared",
        kv_gb_per_s=50.0,
        kv_latency_ms=5.0,
    )


def _lay_out(**pools: SimulatedPool) -> tuple[LaidOutPool, ...]:
    store = KvStoreSettings(medium="memory", capacity_gb=1000.0, bytes_per_s=50e9, latency_ms=5.0)
    return lay_out(FleetFile(pools=pools, kv_stores={"shared": store}))


def _report(pools: tuple[LaidOutPool, ...], kv: KvStrategy, *changes: LinkChange) -> SimulationReport:
    """Twenty prompts of 16,000 tokens, each asked five times, from one replica's point of view at random moments."""
    log = [
        TraceRequest(
            at_s=0.4 * number,
            prompt_tokens=16_000,
            output_tokens=50,
            block_hashes=tuple(f"{number * 7 % 20} {block}" for block in range(31)),
        )
        for number in range(100)
    ]
    traffic = workload(log)
    trial = Trial(policy="slo", seed=1, slo=Slo(ttft_s=3.0, itl_s=0.05), kv=kv, link_changes=changes)
    return report(run(pools, traffic, trial), trial)


def test_what_one_replica_computed_need_not_be_computed_by_another() -> None:
    pools = _lay_out(both=_pool(3))
    without, brought = _report(pools, KvStrategy.STATELESS), _report(pools, KvStrategy.AUTO)
    assert brought.prefix_hit_share > without.prefix_hit_share
    assert brought.ttft.mean_s < without.ttft.mean_s


def test_prompts_are_computed_by_replicas_that_never_answer() -> None:
    pools = _lay_out(prompts=_pool(1, ReplicaRole.PREFILL), answers=_pool(1, ReplicaRole.DECODE))
    found = _report(pools, KvStrategy.SPLIT)
    prompts, answers = found.pools
    assert (prompts.requests, answers.requests) == (0, 100)
    assert prompts.busy_share > 0.05
    assert found.attainment > 0.9


def test_prompts_of_a_log_without_hashes_are_split_too() -> None:
    pools = _lay_out(prompts=_pool(1, ReplicaRole.PREFILL), answers=_pool(1, ReplicaRole.DECODE))
    log = [TraceRequest(at_s=0.2 * number, prompt_tokens=8_000, output_tokens=50) for number in range(100)]
    for kv, is_split in ((KvStrategy.SPLIT, True), (KvStrategy.PREFIX, False)):
        trial = Trial(policy="slo", seed=1, slo=Slo(ttft_s=1.0, itl_s=0.05), kv=kv)
        found = report(run(pools, workload(log), trial), trial)
        assert (found.pools[0].busy_share > 0.05) is is_split


def test_every_request_is_answered_when_links_die_or_are_throttled() -> None:
    pools = _lay_out(prompts=_pool(1, ReplicaRole.PREFILL), answers=_pool(2, ReplicaRole.DECODE), both=_pool(1))
    for slowdown in (100.0, inf):
        change = [LinkChange(at_s=5.0, name=name, slowdown=slowdown) for name in ("prompts", "answers", "shared")]
        found = _report(pools, KvStrategy.AUTO, *change)
        assert found.requests == 100
        assert sum(pool.requests for pool in found.pools) == 100


def test_two_runs_of_one_seed_are_the_same_to_the_last_bit() -> None:
    pools = _lay_out(both=_pool(3))
    assert _report(pools, KvStrategy.AUTO) == _report(pools, KvStrategy.AUTO)


def test_with_all_roles_prompts_are_split_and_short_ones_go_to_any_replica_that_answers() -> None:
    pools = _lay_out(
        prompts=_pool(1, ReplicaRole.PREFILL), answers=_pool(1, ReplicaRole.DECODE), both=_pool(1, ReplicaRole.BOTH)
    )
    log = [
        TraceRequest(
            at_s=0.1 * number,
            prompt_tokens=16_000 if number % 4 == 0 else 1_000,
            output_tokens=100,
            block_hashes=tuple(f"{number} {block}" for block in range(31 if number % 4 == 0 else 1)),
        )
        for number in range(200)
    ]
    trial = Trial(policy="slo", seed=1, slo=Slo(ttft_s=1.0, itl_s=0.05), kv=KvStrategy.AUTO)
    found = report(run(pools, workload(log), trial), trial)
    prompts, answers, both = found.pools
    assert prompts.requests == 0
    assert prompts.busy_share > 0.05, "it computes prompts"
    assert answers.requests > 60, "those of the split, and short ones"
    assert both.requests > 20
    alone = report(run(_lay_out(both=_pool(1)), workload(log), trial), trial)
    assert found.ttft.mean_s < alone.ttft.mean_s
