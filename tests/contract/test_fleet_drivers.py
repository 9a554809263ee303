"""Every fleet driver behaves alike: a count is asked for, kept, and said honestly, whatever runs the replicas."""

import pytest

from heterodyne.domain.errors import DriverRefused, InvalidSpec, ScalerConflict, UnknownName
from heterodyne.domain.fleet import PoolName
from heterodyne.domain.replica_stage import COMING, PROVIDED, ReplicaStage
from tests.support.driver_bench import OpenBench, keda_bench, kubernetes_bench, local_bench, scripted_bench
from tests.support.host_benches import slurm_bench, ssh_bench

BENCHES: dict[str, OpenBench] = {
    "scripted": scripted_bench,
    "local": local_bench,
    "kubernetes": kubernetes_bench,
    "keda": keda_bench,
    "ssh": ssh_bench,
    "slurm": slurm_bench,
}


@pytest.fixture(params=BENCHES)
def open_bench(request: pytest.FixtureRequest) -> OpenBench:
    return BENCHES[request.param]


async def test_a_ready_replica_has_an_address_and_a_measured_start(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        (one,) = (await bench.settled(1)).replicas
        assert one.replica is not None
        assert one.replica.id == one.id
        assert one.replica.pool == bench.pool
        assert one.ready_at_s is not None
        assert one.ready_at_s >= one.asked_at_s > 0.0


async def test_more_are_asked_for_at_once_and_come_later(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        await bench.driver.scale(bench.pool, 3, seen=1)
        pool = await bench.look()
        assert pool.wanted == 3
        assert sum(one.stage in PROVIDED for one in pool.replicas) <= 3
        ready = await bench.settled(3)
        assert len({one.id for one in ready.replicas}) == 3
        addresses = {(one.replica.host, one.replica.port) for one in ready.replicas if one.replica is not None}
        assert len(addresses) == 3


async def test_a_replica_that_comes_is_no_measured_start_yet(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        await bench.driver.scale(bench.pool, 2, seen=1)
        for one in (await bench.look()).replicas:
            assert (one.ready_at_s is None) == (one.stage in COMING)
        await bench.settled(2)


async def test_asking_twice_changes_something_once(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        await bench.driver.scale(bench.pool, 2, seen=1)
        await bench.driver.scale(bench.pool, 2, seen=2)
        known = {one.id for one in (await bench.settled(2)).replicas}
        await bench.driver.scale(bench.pool, 2, seen=2)
        assert {one.id for one in (await bench.settled(2)).replicas} == known


async def test_those_that_were_drained_leave_and_the_others_stay(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        await bench.driver.scale(bench.pool, 3, seen=1)
        first, second, third = (one.id for one in (await bench.settled(3)).replicas)
        await bench.driver.scale(bench.pool, 1, seen=3, leaving=(first, third))
        (left,) = (await bench.settled(1)).replicas
        assert left.id == second


async def test_one_that_is_to_leave_and_is_gone_already_is_no_error(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        await bench.driver.scale(bench.pool, 2, seen=1)
        gone, stays = (one.id for one in (await bench.settled(2)).replicas)
        await bench.driver.scale(bench.pool, 1, seen=2, leaving=(gone,))
        await bench.settled(1)
        await bench.driver.scale(bench.pool, 1, seen=1, leaving=(gone,))
        (left,) = (await bench.settled(1)).replicas
        assert left.id == stays


async def test_a_pool_goes_to_zero_and_comes_back(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        (old,) = (await bench.settled(1)).replicas
        await bench.driver.scale(bench.pool, 0, seen=1, leaving=(old.id,))
        assert (await bench.settled(0)).wanted == 0
        await bench.driver.scale(bench.pool, 1, seen=0)
        (new,) = (await bench.settled(1)).replicas
        assert new.asked_at_s > old.asked_at_s


async def test_a_killed_replica_is_replaced_unasked(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        (old,) = (await bench.settled(1)).replicas
        await bench.kill(old.id)
        pool = await bench.when(
            lambda pool: any(
                one.stage is ReplicaStage.READY and one.ready_at_s != old.ready_at_s for one in pool.replicas
            )
        )
        assert pool.wanted == 1
        assert len((await bench.settled(1)).replicas) == 1


async def test_a_pool_of_somebody_else_is_refused_by_name(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        with pytest.raises(UnknownName, match="nobodys"):
            await bench.driver.scale(PoolName("nobodys"), 2, seen=1)


async def test_fewer_than_none_are_refused(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        with pytest.raises(InvalidSpec, match=bench.pool):
            await bench.driver.scale(bench.pool, -1, seen=1)
        assert (await bench.look()).wanted == 1


async def test_more_than_there_is_room_for_is_refused_and_changes_nothing(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        with pytest.raises(DriverRefused, match=bench.pool):
            await bench.driver.scale(bench.pool, bench.maximum + 1, seen=1)
        pool = await bench.look()
        assert pool.wanted == 1
        assert pool.maximum is None or pool.maximum == bench.maximum


async def test_a_count_decided_by_an_old_look_changes_nothing(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        await bench.driver.scale(bench.pool, 2, seen=1)
        with pytest.raises(ScalerConflict, match=bench.pool):
            await bench.driver.scale(bench.pool, 3, seen=1)
        assert (await bench.settled(2)).wanted == 2


async def test_another_scaler_is_noticed(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        if bench.other_scaler is None:
            pytest.skip("nobody else can ask this platform for replicas")
        await bench.other_scaler(2)
        await bench.when(lambda pool: pool.wanted == 2)
        with pytest.raises(ScalerConflict):
            await bench.driver.scale(bench.pool, 3, seen=1)
