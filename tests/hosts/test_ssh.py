"""Replicas on hosts over SSH: a host goes away and comes back, gateways come and go, and places are short."""

import asyncio
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.fleet.hosts import placed_replicas
from heterodyne.ports.fleet_driver import DrivenPool
from heterodyne.testing.scripted_ssh import ScriptedSsh
from tests.support.host_benches import MAXIMUM, failure, hosts_bench, ssh_platform, ssh_pool


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[ScriptedSsh]:
    one = ScriptedSsh(tmp_path / "hosts")
    yield one
    one.close()


def hosts_of(pool: DrivenPool) -> list[str]:
    return sorted(
        one.replica.host for one in pool.replicas if one.replica is not None and one.stage is ReplicaStage.READY
    )


async def test_the_emptiest_host_gets_the_next_replica(ssh: ScriptedSsh) -> None:
    async with hosts_bench(partial(ssh_platform, ssh), ssh_pool({"gpu-a": 2, "gpu-b": 2})) as bench:
        await bench.settled(1)
        await bench.driver.scale(bench.pool, 2, seen=1)
        assert hosts_of(await bench.settled(2)) == ["127.0.0.1", "127.0.0.2"]


async def test_replicas_outlive_the_gateway_and_the_next_one_finds_them(ssh: ScriptedSsh) -> None:
    pool = ssh_pool()
    async with hosts_bench(partial(ssh_platform, ssh), pool) as bench:
        await bench.settled(1)
        await bench.driver.scale(bench.pool, 2, seen=1)
        before = {one.id for one in (await bench.settled(2)).replicas}
    async with hosts_bench(partial(ssh_platform, ssh), pool) as bench:
        found = await bench.settled(2)
        assert ({one.id for one in found.replicas}, found.wanted) == (before, 2)


async def test_a_host_that_is_away_is_named_left_out_and_what_it_brings_back_is_ended(
    ssh: ScriptedSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placed_replicas, "SILENT_S", 1.0)
    async with hosts_bench(partial(ssh_platform, ssh), ssh_pool({"gpu-a": 1, "gpu-b": 1})) as bench:
        (old,) = (await bench.settled(1)).replicas
        ssh.away("gpu-a")
        silent = await bench.when(lambda pool: pool.replicas[0].problem is not None)
        assert "gpu-a: ssh: connect to host gpu-a port 22: Connection refused" in str(silent.replicas[0].problem)
        there = await bench.when(lambda pool: hosts_of(pool) == ["127.0.0.2"])
        assert there.wanted == 1
        ssh.away("gpu-a", is_away=False)
        await bench.when(lambda pool: old.id in [one.id for one in pool.replicas])
        assert hosts_of(await bench.settled(1)) == ["127.0.0.2"]


async def test_with_all_hosts_away_nothing_is_known_and_each_is_named(ssh: ScriptedSsh) -> None:
    async with hosts_bench(partial(ssh_platform, ssh), ssh_pool({"gpu-a": 1, "gpu-b": 1})) as bench:
        before = await bench.settled(1)
        for host in ("gpu-a", "gpu-b"):
            ssh.away(host)
        said = await failure(bench)
        assert said == "; ".join(
            f"{host}: ssh: connect to host {host} port 22: Connection refused" for host in ("gpu-a", "gpu-b")
        )
        for host in ("gpu-a", "gpu-b"):
            ssh.away(host, is_away=False)
        assert (await bench.settled(1)).replicas[0].id == before.replicas[0].id


async def test_more_replicas_than_places_are_said_to_have_none(ssh: ScriptedSsh) -> None:
    async with hosts_bench(partial(ssh_platform, ssh), ssh_pool({"gpu-a": 1})) as bench:
        await bench.settled(1)
        await bench.driver.scale(bench.pool, MAXIMUM, seen=1)
        pool = await bench.when(lambda pool: pool.problem is not None)
        assert pool.problem == "pools.chat.ssh_hosts: all 1 places are taken"


async def test_a_command_that_a_host_does_not_have_is_named(ssh: ScriptedSsh) -> None:
    pool = ssh_pool(words=("no-such-engine", "{port}"))
    async with hosts_bench(partial(ssh_platform, ssh), pool) as bench:
        told = await bench.when(lambda pool: pool.problem is not None)
        assert str(told.problem).endswith("no-such-engine: no such command")


async def test_an_engine_that_never_starts_is_told_with_its_last_words(ssh: ScriptedSsh) -> None:
    pool = ssh_pool(words=("sh", "-c", "echo no such model; exit 1", "{port}"))
    async with hosts_bench(partial(ssh_platform, ssh), pool) as bench:
        told = await bench.when(lambda pool: any(one.problem is not None for one in pool.replicas))
        assert "its command has ended; it said last: no such model" in str(told.replicas[0].problem)


async def test_what_somebody_ends_on_the_host_is_not_started_again(ssh: ScriptedSsh) -> None:
    pool = ssh_pool()
    async with hosts_bench(partial(ssh_platform, ssh), pool) as bench:
        await bench.settled(1)
        await bench.driver.scale(bench.pool, 2, seen=1)
        (first, _) = (await bench.settled(2)).replicas
        other = ssh_platform(ssh)
        [found] = [one for one in await other.find(pool) if one.id == first.id]
        await other.stop(pool, found)
        await bench.when(lambda pool: pool.wanted == 1)
        assert first.id not in [one.id for one in (await bench.settled(1)).replicas]


async def test_what_a_broken_stop_leaves_on_the_host_is_cleared_and_not_started_again(ssh: ScriptedSsh) -> None:
    pool = ssh_pool()
    async with hosts_bench(partial(ssh_platform, ssh), pool) as bench:
        await bench.settled(1)
        await bench.driver.scale(bench.pool, 2, seen=1)
        first = (await bench.settled(2)).replicas[0].replica
        assert first is not None
        place = ssh.home("gpu-a") / ".heterodyne" / str(first.port)
        (place / "stops").touch()  # whoever stopped it was gone before it had cleared its folder
        os.killpg(int((place / "pid").read_text()), signal.SIGKILL)
        await bench.when(lambda pool: pool.wanted == 1)
        assert first.id not in [one.id for one in (await bench.settled(1)).replicas]
        async with asyncio.timeout(bench.start_timeout_s):
            while place.exists():
                await asyncio.sleep(0.05)
