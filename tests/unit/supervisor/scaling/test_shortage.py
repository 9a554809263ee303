"""What the page, the alerts and the metrics say of a model that is short: why, and what would mend it."""

from pathlib import Path

import pytest
from msgspec import structs

from heterodyne.console.scaling.pages import PoolNowRow, ScalingPage, ShortCause, ShortRow
from heterodyne.fleet.scaling_settings import ScalingSettings
from heterodyne.planning.scaling.hardware_choice import most_carried
from heterodyne.supervisor.scaling.autoscaler import Autoscaler
from heterodyne.supervisor.scaling.memory import ScalingMemory
from heterodyne.supervisor.scaling.shared import SharedScaling
from heterodyne.supervisor.scaling.shortage import Standing, short_of
from heterodyne.supervisor.scaling.signals import scaled_models, scaled_pools
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import Meter
from tests.support.driven_fleets import CHAT, MODEL, DrivenBench
from tests.support.scaled_fleet import POOL, ScaledFleet, scaling_rules

LOOK_S = 10.0


async def seen_after(
    bench: DrivenBench, folder: Path, seconds: float, requests_per_s: float, *, is_paused: bool = False
) -> ScalingPage:
    memory = ScalingMemory(folder / "autoscaling.msgpack")
    shared = SharedScaling(bench.fleet, memory, wall_clock=lambda: bench.now_s)
    scaler = Autoscaler(lambda: bench.settings, bench.fleet, memory, shared, wall_clock=lambda: bench.now_s)
    if is_paused:
        scaler.pause(MODEL, is_paused=True)
    for _ in range(round(seconds / LOOK_S)):
        bench.now_s += LOOK_S
        bench.workers.came(round(requests_per_s * LOOK_S), prompt_tokens=512, output_tokens=256)
        await bench.driven.follow()
        await scaler.look(bench.now_s)
    return scaler.page(None, 1)


def shown(meter: Meter) -> dict[tuple[str, ...], float]:
    return {one.labels: one.values[0] for one in meter.samples()}


def short_row(page: ScalingPage) -> ShortRow:
    (model,) = page.models
    assert model.short is not None
    return model.short


async def test_nothing_is_short_while_enough_is_there_or_coming(tmp_path: Path) -> None:
    page = await seen_after(DrivenBench(), tmp_path, 300, 2.5)
    assert page.models[0].short is None
    assert page.models[0].most == pytest.approx(6.0, rel=0.2)
    assert [one.short for one in scaled_models(page)] == [""]
    assert shown(metrics.scaling_short)[MODEL,] == 0.0


async def test_a_maximum_is_named_with_the_figure_that_would_do(tmp_path: Path) -> None:
    page = await seen_after(DrivenBench(), tmp_path, 400, 9.0)
    short = short_row(page)
    assert short.cause is ShortCause.MAXIMUM
    assert "chat has 6 replicas" in short.because
    wanted = int(short.mend.split()[-1])
    assert short.mend.startswith("raise pools.chat.autoscaling.maximum to ")
    assert wanted >= 9
    (model,) = page.models
    assert model.needed > model.most
    assert short.requests_per_s == pytest.approx(model.needed - model.carried)
    assert shown(metrics.scaling_short)[MODEL,] == 1.0


async def test_a_bound_of_the_driver_is_told_from_one_of_the_settings(tmp_path: Path) -> None:
    short = short_row(await seen_after(DrivenBench(driven_maximum=2), tmp_path, 300, 4.0))
    assert short.cause is ShortCause.QUOTA
    assert short.because == "the driver of chat allows 2 replicas and autoscaling.maximum 6"


async def test_a_pause_says_how_it_ends(tmp_path: Path) -> None:
    page = await seen_after(DrivenBench(), tmp_path, 120, 2.5, is_paused=True)
    assert short_row(page).cause is ShortCause.PAUSED
    assert short_row(page).mend == f"`heterodyne scale resume {MODEL}`"
    assert shown(metrics.scaling_paused)[MODEL,] == 1.0


async def test_a_dry_run_says_that_it_only_says(tmp_path: Path) -> None:
    page = await seen_after(DrivenBench(mode="dry-run"), tmp_path, 120, 2.5)
    assert short_row(page).cause is ShortCause.MODE
    assert "dry-run" in short_row(page).because


async def test_a_driver_that_is_away_is_named_with_how_long(tmp_path: Path) -> None:
    bench = DrivenBench()
    await bench.driven.follow()
    bench.driver.is_away = True
    page = await seen_after(bench, tmp_path, 120, 2.5)
    assert short_row(page).cause is ShortCause.DRIVER
    assert "nobody answers" in short_row(page).because
    (pool,) = scaled_pools(page)
    assert pool.away_s == pytest.approx(110.0)
    assert pool.away_s > pool.cold_start_s
    assert shown(metrics.scaling_driver_away)[CHAT,] == pytest.approx(110.0)


def test_a_budget_is_told_from_a_maximum() -> None:
    rules = scaling_rules(budget_usd_per_hour=3.0)
    fleet = ScaledFleet(rules, 3)
    decisions = [fleet.look(8.0) for _ in range(12)]
    pool = PoolNowRow(
        pool=POOL,
        driver="scripted",
        minimum=1,
        maximum=20,
        wanted=3,
        ready=3,
        warming=0,
        draining=0,
        cold_start_s=60.0,
        cold_starts=0,
    )
    short = short_of(Standing(model=MODEL, rules=rules, decision=decisions[-1], pools=(pool,), said={POOL: 20}))
    assert short is not None
    assert short.cause is ShortCause.BUDGET
    assert "3.00 USD an hour" in short.because
    starts = {POOL: fleet.state.starts(rules, POOL)}
    assert most_carried(rules, starts) == pytest.approx(3.0)
    assert most_carried(structs.replace(rules, budget_usd_per_hour=None), starts) == pytest.approx(20.0)


async def test_what_grows_no_more_is_forgotten(tmp_path: Path) -> None:
    bench = DrivenBench()
    memory = ScalingMemory(tmp_path / "autoscaling.msgpack")
    scaler = Autoscaler(lambda: bench.settings, bench.fleet, memory, SharedScaling(bench.fleet, memory))
    await bench.driven.follow()
    await scaler.look(bench.now_s)
    assert (CHAT,) in shown(metrics.scaling_driver_away)
    bench.settings = structs.replace(bench.settings, autoscaling=ScalingSettings(mode="off"))
    await scaler.look(bench.now_s + LOOK_S)
    assert (CHAT,) not in shown(metrics.scaling_driver_away)
    assert (MODEL,) not in shown(metrics.scaling_paused)
