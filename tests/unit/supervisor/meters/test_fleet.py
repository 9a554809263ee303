"""What the supervisor knows of the fleet, as metrics."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from heterodyne.console.fleet.pages import FleetPage, ReplicaCondition, ReplicaRow
from heterodyne.console.tenants_now.pages import LimitUse
from heterodyne.control.accelerator_watch import AcceleratorsSeen, DeviceSeen
from heterodyne.domain.fleet import Health
from heterodyne.domain.price import Price
from heterodyne.engines.accelerators.device import DeviceReading
from heterodyne.fleet.settings import PoolSettings
from heterodyne.supervisor.meters.fleet import FleetMeters, TokenCost, cost_samples, limit_samples, replica_samples
from heterodyne.supervisor.meters.stores import write_meters
from heterodyne.telemetry import exposition, metrics
from heterodyne.telemetry.meters import Sample

POOLS = {
    "own": PoolSettings(model="m", hardware="h100"),
    "empty": PoolSettings(model="m", hardware="l4"),
}


def row(pool: str, state: ReplicaCondition, *, usd_per_hour: float | None, hardware: str | None = "h100") -> ReplicaRow:
    return ReplicaRow(
        id=f"{pool}-0",
        pool=pool,
        model="m",
        engine="vllm",
        url="http://h:1",
        state=state,
        health=Health.READY,
        is_drained=False,
        is_local=False,
        is_added=False,
        in_flight=0,
        problems=(),
        load=None,
        load_age_s=None,
        restarts=0,
        hardware=hardware,
        tp=1,
        region=None,
        version=None,
        labels={},
        price=Price(usd_per_hour=usd_per_hour),
        workers=(),
    )


def page(*rows: ReplicaRow) -> FleetPage:
    return FleetPage(version=1, is_applied=True, workers=(), replicas=rows, reload=None)


def by_labels(samples: Sequence[Sample], meter: str) -> dict[tuple[str, ...], float]:
    return {sample.labels: sample.values[0] for sample in samples if sample.meter == meter}


def test_every_state_of_every_pool_has_a_line() -> None:
    rows = (row("own", ReplicaCondition.READY, usd_per_hour=3.6), row("own", ReplicaCondition.READY, usd_per_hour=3.6))
    counts = by_labels(replica_samples(page(*rows), POOLS), metrics.replicas.name)
    assert len(counts) == 2 * len(ReplicaCondition)
    assert counts["own", "h100", "ready"] == 2
    assert counts["own", "h100", "down"] == 0
    assert counts["empty", "l4", "ready"] == 0


def test_what_is_up_is_paid_for_whether_it_works_or_not() -> None:
    rows = (
        row("own", ReplicaCondition.READY, usd_per_hour=3.6),
        row("own", ReplicaCondition.DRAINED, usd_per_hour=3.6),
        row("own", ReplicaCondition.DOWN, usd_per_hour=3.6),
        row("hosted", ReplicaCondition.READY, usd_per_hour=None, hardware=None),
        row("dead", ReplicaCondition.DOWN, usd_per_hour=7.2, hardware=None),
    )
    usd = by_labels(replica_samples(page(*rows), POOLS), metrics.usd_per_second.name)
    assert usd == {("own", "h100"): pytest.approx(0.002), ("dead", ""): 0.0}


def test_tokens_cost_what_was_used_and_what_was_paid() -> None:
    costs = [
        TokenCost(pool="own", hardware="h100", tokens=2_000_000, usd_busy=1.0, usd_paid=5.0),
        TokenCost(pool="hosted", hardware="", tokens=1_000_000, usd_busy=0.6, usd_paid=None),
        TokenCost(pool="idle", hardware="l4", tokens=0, usd_busy=0.0, usd_paid=0.8),
    ]
    assert by_labels(cost_samples(costs), metrics.usd_per_million_tokens.name) == {
        ("own", "h100", "busy"): 0.5,
        ("own", "h100", "paid"): 2.5,
        ("hosted", "", "busy"): pytest.approx(0.6),
    }


def test_limits_are_shares_and_the_fullest_come_first() -> None:
    def limit(level: str, most: float, used: float) -> LimitUse:
        return LimitUse(level=level, limit_name="requests_per_minute", limit=most, used=used, resets_at=None)

    samples = limit_samples([limit("a", 10, 1), limit("b", 4, 3), limit("none", 0, 0), limit("over", 0, 1)])
    assert [(sample.labels[0], sample.values[0]) for sample in samples] == [
        ("over", 1.0),
        ("b", 0.75),
        ("a", 0.1),
        ("none", 0.0),
    ]


def test_what_cannot_be_asked_for_has_no_line() -> None:
    assert FleetMeters(lambda: None, lambda: POOLS).samples() == []


async def test_the_office_leaves_them_where_workers_find_them(tmp_path: Path) -> None:
    device = DeviceSeen(
        pool="own", hardware="h100", device="h:9400/0", exporter="dcgm", reading=DeviceReading(device="0", power_w=600)
    )
    meters = FleetMeters(
        lambda: page(row("own", ReplicaCondition.READY, usd_per_hour=3.6)),
        lambda: POOLS,
        devices=lambda: AcceleratorsSeen(devices=(device,)),
        costs=lambda: [TokenCost(pool="own", hardware="h100", tokens=10, usd_busy=1e-5, usd_paid=None)],
        limits=lambda: [LimitUse(level="organisation:a", limit_name="usd_per_day", limit=2, used=1, resets_at=None)],
    )
    found = await left(tmp_path, meters.samples)
    assert found["heterodyne_fleet_usd_per_second"] == [({"pool": "own", "hardware": "h100"}, 0.001)]
    assert found["heterodyne_fleet_usd_per_million_tokens"][0][1] == pytest.approx(1.0)
    assert found["heterodyne_fleet_accelerator_power_watts"] == [
        ({"pool": "own", "hardware": "h100", "device": "h:9400/0"}, 600.0)
    ]
    assert found["heterodyne_admission_limit_used_ratio"] == [
        ({"level": "organisation:a", "limit": "usd_per_day"}, 0.5)
    ]
    assert "heterodyne_audit_writing" in found


async def test_a_mistake_in_them_costs_no_other_line(tmp_path: Path) -> None:
    def broken() -> list[Sample]:
        raise ZeroDivisionError

    assert "heterodyne_audit_writing" in await left(tmp_path, broken)


async def left(run_dir: Path, fleet: object) -> dict[str, list[tuple[dict[str, str], float]]]:
    """What the page of a worker beside it says, where it says anything."""
    task = asyncio.create_task(write_meters(run_dir, lambda: None, lambda: None, fleet))  # type: ignore[arg-type]
    try:
        async with asyncio.timeout(30):
            while not (run_dir / "office.meters").exists():
                await asyncio.sleep(0.005)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    idle_meters = [meter for meter in metrics.ALL if not meter.samples()]
    text = exposition.render(metrics.ALL, exposition.gather(run_dir, "worker-0", idle_meters)).decode()
    return {
        family.samples[0].name: [(sample.labels, sample.value) for sample in family.samples]
        for family in text_string_to_metric_families(text)
        if family.samples
    }


async def test_wrong_keys_at_the_admin_port_are_among_them(tmp_path: Path) -> None:
    metrics.sign_ins_failed.add(("bearer",))
    found = (await left(tmp_path, list))["heterodyne_console_sign_ins_failed_total"]
    counted = {labels["how"]: value for labels, value in found}
    assert counted["bearer"] == metrics.sign_ins_failed.cell(("bearer",))[0]
