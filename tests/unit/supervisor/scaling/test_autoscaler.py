"""The live autoscaler over a scripted driver: what it carries out, what it only says, and what stands in its way."""

from pathlib import Path

import pytest
from msgspec import structs

from heterodyne.console.scaling.pages import StepRow
from heterodyne.domain.errors import UnknownName
from heterodyne.planning.scaling.action import ActionKind, ScalingReason
from heterodyne.supervisor.scaling.autoscaler import Autoscaler
from heterodyne.supervisor.scaling.memory import ScalingMemory
from heterodyne.supervisor.scaling.shared import SharedScaling
from tests.support.driven_fleets import CHAT, MODEL, DrivenBench

LOOK_S = 10.0


def scaler_of(bench: DrivenBench, folder: Path) -> Autoscaler:
    memory = ScalingMemory(folder / "autoscaling.msgpack")
    shared = SharedScaling(bench.fleet, memory, wall_clock=lambda: bench.now_s)
    return Autoscaler(lambda: bench.settings, bench.fleet, memory, shared, wall_clock=lambda: bench.now_s)


async def pass_time(bench: DrivenBench, scaler: Autoscaler, seconds: float, requests_per_s: float) -> None:
    """Looks every ten seconds, with requests of the usual length between them."""
    for _ in range(round(seconds / LOOK_S)):
        bench.now_s += LOOK_S
        bench.workers.came(round(requests_per_s * LOOK_S), prompt_tokens=512, output_tokens=256)
        await bench.driven.follow()
        await scaler.look(bench.now_s)


def steps(scaler: Autoscaler, *kinds: ActionKind) -> list[StepRow]:
    """Those of these kinds, the earliest first."""
    rows = [step for one in reversed(scaler.page(None, 500).decisions) for step in one.steps]
    return [one for one in rows if one.kind in kinds]


async def test_more_requests_bring_more_replicas_and_fewer_take_them_away(tmp_path: Path) -> None:
    bench = DrivenBench()
    scaler = scaler_of(bench, tmp_path)
    await pass_time(bench, scaler, 120, 0.5)
    assert not bench.driver.asked
    await pass_time(bench, scaler, 300, 2.5)
    assert bench.driver.asked[-1].count >= 3
    assert len(bench.takeable) >= 3
    await pass_time(bench, scaler, 1800, 0.3)
    assert bench.driver.asked[-1].count == 1
    assert len(bench.takeable) == 1
    (added, drained) = (steps(scaler, kind)[0] for kind in (ActionKind.ADD, ActionKind.DRAIN))
    assert added.because
    assert added.otherwise
    assert drained.reason is ScalingReason.SPARE_CAPACITY


async def test_a_replica_that_is_given_up_is_ended_only_when_its_last_answer_is_complete(tmp_path: Path) -> None:
    bench = DrivenBench(first=3)
    scaler = scaler_of(bench, tmp_path)
    bench.workers.in_flight = {f"chat-{number}": 1 for number in range(3)}
    await pass_time(bench, scaler, 1200, 0.3)
    assert len(bench.takeable) == 1
    assert not bench.driver.asked, "all of them still answer"
    (leaving,) = steps(scaler, ActionKind.DRAIN)
    bench.workers.in_flight = dict.fromkeys(bench.takeable, 1)
    await bench.driven.follow()
    assert bench.driver.asked[-1].count == 1
    assert set(bench.driver.asked[-1].leaving) == set(leaving.replicas)


async def test_a_replica_that_still_drains_is_kept_before_another_is_started(tmp_path: Path) -> None:
    bench = DrivenBench(first=2)
    scaler = scaler_of(bench, tmp_path)
    bench.workers.in_flight = {"chat-0": 1, "chat-1": 1}
    await pass_time(bench, scaler, 1200, 0.3)
    assert len(bench.takeable) == 1
    await pass_time(bench, scaler, 60, 1.8)
    assert len(bench.takeable) == 2
    assert steps(scaler, ActionKind.KEEP)
    assert not bench.driver.asked


async def test_a_dry_run_says_it_once_and_does_nothing(tmp_path: Path) -> None:
    bench = DrivenBench(mode="dry-run")
    scaler = scaler_of(bench, tmp_path)
    await pass_time(bench, scaler, 300, 2.5)
    assert not bench.driver.asked
    added = steps(scaler, ActionKind.ADD)
    assert 0 < len(added) < 10
    assert all("dry-run" in one.outcome for one in added)


async def test_what_is_paused_stays_as_it_is_until_it_is_resumed(tmp_path: Path) -> None:
    bench = DrivenBench()
    scaler = scaler_of(bench, tmp_path)
    assert scaler.pause(None, is_paused=True).paused == (MODEL,)
    await pass_time(bench, scaler, 120, 2.5)
    assert not bench.driver.asked
    assert scaler.page(None, 1).models[0].is_paused
    bench_after = scaler_of(bench, tmp_path)
    assert bench_after.pause(None, is_paused=False).paused == (), "a restart remembered the pause"
    scaler.pause(MODEL, is_paused=False)
    await pass_time(bench, scaler, 60, 2.5)
    assert bench.driver.asked


async def test_a_driver_that_is_away_is_named_and_the_fleet_stays(tmp_path: Path) -> None:
    bench = DrivenBench()
    scaler = scaler_of(bench, tmp_path)
    await pass_time(bench, scaler, 60, 0.5)
    bench.driver.is_away = True
    await pass_time(bench, scaler, 120, 2.5)
    (model,) = scaler.page(None, 1).models
    assert model.pools[0].problem == "scripted: nobody answers"
    assert len(bench.takeable) == 1
    assert steps(scaler, ActionKind.ADD)[-1].outcome == "scripted: nobody answers"
    bench.driver.is_away = False
    await pass_time(bench, scaler, 60, 2.5)
    assert len(bench.takeable) > 1


async def test_another_scaler_of_the_same_pool_is_named_and_left_alone(tmp_path: Path) -> None:
    bench = DrivenBench()
    scaler = scaler_of(bench, tmp_path)
    await pass_time(bench, scaler, 120, 1.8)
    asked = len(bench.driver.asked)
    assert asked
    bench.driver.other_scaler(CHAT, 1)
    await pass_time(bench, scaler, 120, 2.5)
    assert len(bench.driver.asked) == asked
    (model,) = scaler.page(None, 1).models
    assert model.yields is not None
    assert "another scaler" in model.yields
    await pass_time(bench, scaler, 400, 2.5)
    assert len(bench.driver.asked) > asked


async def test_the_bound_of_the_machine_is_not_exceeded(tmp_path: Path) -> None:
    bench = DrivenBench(driven_maximum=2)
    scaler = scaler_of(bench, tmp_path)
    await pass_time(bench, scaler, 300, 4.0)
    assert max(one.count for one in bench.driver.asked) == 2
    (model,) = scaler.page(None, 1).models
    assert model.pools[0].maximum == 2
    assert scaler.page(None, 1).decisions[0].steps[0].reason is ScalingReason.LIMITS


async def test_starts_are_measured_and_survive_a_restart(tmp_path: Path) -> None:
    bench = DrivenBench(cold_start_s=300.0)
    scaler = scaler_of(bench, tmp_path)
    await pass_time(bench, scaler, 60, 0.5)
    for _ in range(6):
        (id,) = bench.takeable
        bench.driver.kill(id)
        await pass_time(bench, scaler, 60, 0.5)
    before = scaler.page(None, 1).models[0].pools[0]
    assert before.cold_starts >= 5
    assert 30.0 <= before.cold_start_s <= 45.0
    scaler.pause(None, is_paused=False)  # which saves
    again = scaler_of(bench, tmp_path)
    await pass_time(bench, again, 10, 0.5)
    assert again.page(None, 1).models[0].pools[0].cold_start_s == before.cold_start_s


async def test_a_reload_changes_what_holds(tmp_path: Path) -> None:
    bench = DrivenBench()
    scaler = scaler_of(bench, tmp_path)
    await pass_time(bench, scaler, 60, 0.5)
    pool = structs.replace(bench.settings.pools["chat"], autoscaling={"minimum": 2, "maximum": 6, "requests_per_s": 1})
    bench.settings = structs.replace(bench.settings, pools={"chat": pool})
    await pass_time(bench, scaler, 20, 0.5)
    assert bench.driver.asked[-1].count == 2
    kept = structs.replace(pool, autoscaling={})
    bench.settings = structs.replace(bench.settings, pools={"chat": kept})
    await pass_time(bench, scaler, 20, 0.5)
    assert scaler.page(None, 1).models == ()


async def test_a_model_that_does_not_grow_is_refused_by_name(tmp_path: Path) -> None:
    scaler = scaler_of(DrivenBench(), tmp_path)
    with pytest.raises(UnknownName, match="nobodys"):
        scaler.page("nobodys", 1)
    with pytest.raises(UnknownName, match="nobodys"):
        scaler.pause("nobodys", is_paused=True)


def test_a_file_that_cannot_be_read_is_begun_anew(tmp_path: Path) -> None:
    file = tmp_path / "autoscaling.msgpack"
    file.write_bytes(b"nonsense")
    memory = ScalingMemory(file)
    assert not memory.states
    memory.save()
    assert not ScalingMemory(file).paused


async def test_workers_are_told_when_a_model_that_sleeps_will_be_awake(tmp_path: Path) -> None:
    bench = DrivenBench(minimum=0)
    scaler = scaler_of(bench, tmp_path)
    await pass_time(bench, scaler, 60, 0.5)
    assert bench.wakes[MODEL].asked_at_s is None
    assert bench.wakes[MODEL].start.usual_s == pytest.approx(30.0, rel=0.1)
    await pass_time(bench, scaler, 1200, 0.0)
    assert bench.driver.asked[-1].count == 0
    assert steps(scaler, ActionKind.DRAIN)[-1].reason is ScalingReason.IDLE
    bench.workers.demand = structs.replace(bench.workers.demand, queued=2, held=2)
    await pass_time(bench, scaler, 10, 0.0)
    assert bench.driver.asked[-1].count == 1
    assert steps(scaler, ActionKind.ADD)[-1].reason is ScalingReason.WAKE
    await pass_time(bench, scaler, 10, 0.0)
    assert bench.wakes[MODEL].asked_at_s is not None
    (model,) = scaler.page(None, 1).models
    assert model.held == 2
    assert model.told_wait_s == pytest.approx(20.0, abs=3.0)
    bench.workers.demand = structs.replace(bench.workers.demand, queued=0, held=0)
    await pass_time(bench, scaler, 40, 0.5)
    assert scaler.page(None, 1).models[0].told_wait_s is None


async def test_a_model_that_keeps_a_replica_or_is_only_watched_is_never_held_for(tmp_path: Path) -> None:
    for bench in (DrivenBench(), DrivenBench(mode="dry-run", minimum=0)):
        await pass_time(bench, scaler_of(bench, tmp_path), 30, 0.5)
        assert not bench.wakes
