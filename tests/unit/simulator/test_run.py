"""The virtual clock: what a machine would do alone, what the router hears, and the same again from the same seed."""

import msgspec
import pytest

from heterodyne.domain.errors import UnknownName
from heterodyne.physics.replica.job import Job
from heterodyne.physics.replica.simulation import simulate_replica
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.report import report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload
from tests.support.simulations import SLO, log, pools, simulate


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_one_replica_gives_the_times_that_its_machine_gives_alone(engine: str) -> None:
    fleet = pools(engine=engine, hardware="l4", tp=2)
    traffic = workload(log(200))
    tally = run(fleet, traffic, Trial(policy="slo", seed=1, slo=SLO))
    [machine] = fleet[0].machines(traffic.hash_tokens)
    alone = simulate_replica(
        machine,
        [
            (one.at_s, Job(id=one.number, prompt_tokens=one.prompt_tokens, output_tokens=one.output_tokens))
            for one in traffic
        ],
    )
    expected = sorted(one.finished_at_s - one.arrived_at_s for one in alone.timings)
    assert sorted(tally.total_s) == pytest.approx(expected, rel=1e-9)
    assert sorted(tally.ttft_s) == pytest.approx(sorted(one.ttft_s for one in alone.timings), rel=1e-9)


@pytest.mark.parametrize("policy", ["slo", "cost", "power-of-two", "llm-d"])
def test_the_same_seed_gives_the_same_bytes(policy: str) -> None:
    fleet = pools(replicas=4)
    assert msgspec.json.encode(simulate(fleet, log(300), policy)) == msgspec.json.encode(
        simulate(fleet, log(300), policy)
    )


def test_another_seed_gives_another_run() -> None:
    fleet = pools(replicas=4)
    assert simulate(fleet, log(300), "power-of-two", seed=1) != simulate(fleet, log(300), "power-of-two", seed=2)


def test_every_request_is_answered_and_every_token_counted() -> None:
    arrivals = log(400, gap_s=0.002)
    got = simulate(pools(replicas=3), arrivals)
    assert (got.requests, got.refused) == (400, 0)
    assert got.output_tokens == sum(max(1, one.output_tokens) for one in arrivals)
    assert sum(one.requests for one in got.pools) == 400


def test_a_request_that_fits_nowhere_is_refused_and_counts_as_missed() -> None:
    long = TraceRequest(at_s=100.0, prompt_tokens=200_000, output_tokens=10)
    got = simulate(pools(), [long, *log(9)])
    assert (got.requests, got.refused) == (10, 1)
    assert got.attainment <= 0.9


def test_a_long_request_goes_where_there_is_room_for_it() -> None:
    fleet = pools(context_tokens=4096) + pools(context_tokens=100_000)
    arrivals = [TraceRequest(at_s=float(number), prompt_tokens=50_000, output_tokens=10) for number in range(5)]
    trial = Trial(policy="round-robin", seed=1, slo=SLO)
    named = tuple(
        msgspec.structs.replace(
            pool,
            name=f"p{number}",
            replicas=tuple(msgspec.structs.replace(one, id=f"r{number}", pool=f"p{number}") for one in pool.replicas),
        )
        for number, pool in enumerate(fleet)
    )
    tally = run(named, workload(arrivals), trial)
    assert [replica.requests for replica in tally.replicas] == [0, 5]


def test_prompts_that_begin_alike_are_found_in_memory() -> None:
    arrivals = [
        TraceRequest(
            at_s=float(number), prompt_tokens=2048 + 100, output_tokens=5, block_hashes=(1, 2, 3, 4, 100 + number)
        )
        for number in range(10)
    ]
    got = simulate(pools(replicas=1), arrivals)
    assert got.prefix_hit_share == pytest.approx(9 * 2048 / (10 * 2148))


def test_a_pool_slower_than_physics_says_takes_so_much_longer() -> None:
    [alone] = [TraceRequest(at_s=0.0, prompt_tokens=1000, output_tokens=101)]
    fast, slow = simulate(pools(), [alone]), simulate(pools(slowdown=3.0), [alone])
    assert slow.itl.mean_s == pytest.approx(3 * fast.itl.mean_s)


def test_a_policy_nobody_knows_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="round-robin"):
        simulate(pools(), log(3), "round-robbin")


def test_a_policy_that_lives_by_gauges_does_worse_when_it_hears_them_seldom() -> None:
    fleet, traffic = pools(replicas=4, hardware="l4", tp=2), workload(log(400), rate=15.0)
    often, seldom = (
        report(run(fleet, traffic, trial), trial)
        for trial in (Trial(policy="llm-d", seed=1, slo=SLO, gauge_interval_s=gap_s) for gap_s in (0.1, 20.0))
    )
    assert often.inside_hottest < seldom.inside_hottest
