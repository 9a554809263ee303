"""When snapshots are published, and what happens to a fleet that changes while it is watched."""

import asyncio
import time

from heterodyne.control.fleet_watch import LOAD_INTERVAL_S
from heterodyne.domain.fleet import Health, ModelRule, PoolName
from heterodyne.emulator.server import EmulatorServer
from heterodyne.telemetry import metrics
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from tests.support.emulators import order
from tests.support.watches import replica, watching

MODEL = "llama-3.1-8b"


async def test_many_readings_are_one_snapshot() -> None:
    async with EmulatorServer(order()) as engine:
        fleet = [replica(engine.port, index, model=MODEL, engine="vllm") for index in range(10)]
        async with watching(*fleet) as watched:
            await watched.until(lambda: all(watched.probes[one.id] for one in fleet))
            await asyncio.sleep(0.05)
            count, looks, began_s = len(watched.published), sum(watched.probes.values()), time.monotonic()
            await watched.until(lambda: sum(watched.probes.values()) - looks > 50)
            await watched.until(lambda: len(watched.published) > count)
            assert len(watched.published) - count <= 2 + (time.monotonic() - began_s) / LOAD_INTERVAL_S


async def test_a_fleet_where_nothing_changes_is_not_published_again() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine, watching(replica(engine.port)) as watched:
        await watched.until(lambda: watched.probes["p-0"] >= 20)
        assert len(watched.published) == 1
        watched.watch.update((replica(engine.port),))
        assert len(watched.published) == 1


async def test_replicas_come_and_go_while_the_watch_runs() -> None:
    async with ScriptedEngine(behaviours.answer()) as one, ScriptedEngine(behaviours.answer()) as other:
        first, second = replica(one.port, 0), replica(other.port, 1)
        async with watching(first) as watched:
            await watched.until_health(Health.READY)
            watched.watch.update((first, second))
            assert [seen.id for seen in watched.published[-1].replicas] == ["p-0", "p-1"]
            assert watched.latest(0).health is Health.READY, "what is known of it stays"
            await watched.until_health(Health.READY, 1)
            watched.watch.update((second,))
            assert [seen.id for seen in watched.published[-1].replicas] == ["p-1"], "at once"
            await watched.until(lambda: not one.connections)
            looks = watched.probes["p-0"]
            await asyncio.sleep(0.1)
            assert watched.probes["p-0"] == looks
            assert ("p", "p-0") not in [sample.labels for sample in metrics.replica_ready.samples()]
            watched.watch.update(())
            assert watched.published[-1].replicas == ()
            watched.watch.update((first,))
            await watched.until_health(Health.READY)


async def test_a_replica_with_another_url_is_another_engine() -> None:
    async with (
        ScriptedEngine(behaviours.answer()) as one,
        ScriptedEngine(behaviours.answer()) as other,
        watching(replica(one.port)) as watched,
    ):
        await watched.until_health(Health.READY)
        watched.watch.update((replica(other.port),))
        assert watched.latest().health is Health.STARTING
        assert watched.latest().port == other.port
        await watched.until_health(Health.READY)
        await watched.until(lambda: not one.connections)


async def test_draining_and_rules_are_published_at_once() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine, watching(replica(engine.port)) as watched:
        await watched.until_health(Health.READY)
        rules = {"scripted": ModelRule(aliases=("other",), pools=(PoolName("p"),))}
        watched.watch.update((replica(engine.port, is_draining=True),), rules)
        assert watched.latest().is_draining
        assert watched.latest().health is Health.READY
        assert watched.published[-1].aliases == {"other": "scripted"}
        looks = watched.probes["p-0"]
        await watched.until(lambda: watched.probes["p-0"] > looks + 2)
        assert watched.latest().is_draining, "it is looked at to its end"


async def test_updates_while_looks_are_under_way_leave_nothing_behind() -> None:
    async with ScriptedEngine(behaviours.answer()) as engine:
        async with watching() as watched:
            for round in range(40):
                watched.watch.update(tuple(replica(engine.port, index) for index in range(round % 7)))
                await asyncio.sleep(0.003)
            watched.watch.update((replica(engine.port, 3),))
            await watched.until(lambda: _watching_tasks() == ["watch p-3"])
            await watched.until_health(Health.READY)
        await asyncio.sleep(0.02)
        assert not engine.connections


def _watching_tasks() -> list[str]:
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("watch ")]
