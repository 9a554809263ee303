"""Replicas as jobs of Slurm: queues are full, jobs are taken away, and its controller is."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.fleet.free_ports import LOOPBACK
from heterodyne.testing.scripted_slurm import ScriptedSlurm
from tests.support.driver_bench import DriverBench
from tests.support.host_benches import failure, hosts_bench, slurm_platform, slurm_pool


@asynccontextmanager
async def bench_of(folder: Path, places: int = 2) -> AsyncIterator[tuple[ScriptedSlurm, DriverBench]]:
    slurm = ScriptedSlurm.made(folder / "slurm", {LOOPBACK: places})
    try:
        async with hosts_bench(partial(slurm_platform, slurm), slurm_pool()) as bench:
            yield slurm, bench
    finally:
        slurm.close()


async def test_a_job_waits_with_slurms_reason_and_comes_when_there_is_a_node(tmp_path: Path) -> None:
    async with bench_of(tmp_path, places=0) as (slurm, bench):
        pool = await bench.when(lambda pool: any("Resources" in str(one.problem) for one in pool.replicas))
        assert (pool.replicas[0].stage, pool.replicas[0].problem) == (
            ReplicaStage.PENDING,
            "job 4001: PENDING (Resources)",
        )
        slurm.set(nodes={LOOPBACK: 1})
        assert (await bench.settled(1)).replicas[0].id == "chat-j4001"


async def test_a_submission_that_is_refused_is_named_and_tried_again(tmp_path: Path) -> None:
    async with bench_of(tmp_path) as (slurm, bench):
        await bench.settled(1)
        slurm.set(refuses="Invalid account or account/partition combination specified")
        await bench.driver.scale(bench.pool, 2, seen=1)
        pool = await bench.when(lambda pool: pool.problem is not None)
        assert "sbatch: sbatch: error: Batch job submission failed: Invalid account" in str(pool.problem)
        slurm.set()
        assert (await bench.settled(2)).problem is None


@pytest.mark.parametrize("state", ["PREEMPTED", "NODE_FAIL"])
async def test_a_job_that_was_taken_away_is_replaced_by_another(tmp_path: Path, state: str) -> None:
    async with bench_of(tmp_path) as (slurm, bench):
        await bench.settled(1)
        slurm.end(4001, state)
        pool = await bench.when(lambda pool: [one.id for one in pool.replicas] == ["chat-j4002"])
        assert pool.wanted == 1
        assert f"in place of chat-j4001, job 4001: {state}" in str(pool.replicas[0].problem)
        assert (await bench.settled(1)).replicas[0].problem is None


async def test_a_job_that_somebody_cancelled_is_another_scalers_word(tmp_path: Path) -> None:
    async with bench_of(tmp_path) as (slurm, bench):
        await bench.settled(1)
        await bench.driver.scale(bench.pool, 2, seen=1)
        await bench.settled(2)
        slurm.end(4001, "CANCELLED")
        pool = await bench.when(lambda pool: pool.wanted == 1)
        assert [one.id for one in pool.replicas] == ["chat-j4002"]


async def test_the_end_of_a_jobs_time_is_known_before(tmp_path: Path) -> None:
    async with bench_of(tmp_path) as (slurm, bench):
        await bench.settled(1)
        slurm.limit(4001, left_s=300.0)
        pool = await bench.when(lambda pool: pool.replicas[0].taken_at_s is not None)
        assert pool.replicas[0].stage is ReplicaStage.READY


async def test_a_gateway_that_begins_again_finds_its_jobs(tmp_path: Path) -> None:
    async with bench_of(tmp_path) as (slurm, bench):
        await bench.settled(1)
        async with hosts_bench(partial(slurm_platform, slurm), slurm_pool()) as other:
            found = await other.when(lambda pool: bool(pool.replicas))
            assert ([one.id for one in found.replicas], found.wanted) == (["chat-j4001"], 1)


async def test_with_the_controller_away_nothing_is_changed_and_it_is_named(tmp_path: Path) -> None:
    async with bench_of(tmp_path) as (slurm, bench):
        before = await bench.settled(1)
        slurm.set(is_away=True)
        assert "Unable to contact slurm controller" in await failure(bench)
        slurm.set()
        assert (await bench.settled(1)).replicas[0].id == before.replicas[0].id
