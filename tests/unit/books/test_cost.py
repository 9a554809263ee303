"""What requests cost, and what idleness does."""

import pytest

from heterodyne.books.cost import pool_cost, whole_micro
from heterodyne.books.uptime import RunningReplica, UptimeMeter
from heterodyne.domain.usage import IdleRow

MIDNIGHT = 1_793_577_600.0  # of 2026-11-02
HOUR_US = 3_600_000_000


def test_small_costs_add_up() -> None:
    total, remainder = 0, 0.0
    for _ in range(1_000_000):
        micro, remainder = whole_micro(0.2e-6, remainder)
        total += micro
    assert total == pytest.approx(200_000, abs=1)
    assert 0 <= remainder < 1


def test_idle_is_what_was_paid_and_not_used() -> None:
    row = IdleRow(
        day="2026-11-01",
        pool="p",
        hardware="h",
        up_us=10 * HOUR_US,
        paid_usd_micro=30_000_000,
        busy_us=4 * HOUR_US,
        busy_usd_micro=12_000_000,
        tokens=6_000_000,
    )
    cost = pool_cost(row)
    assert cost.busy_share == 0.4
    assert cost.idle_usd_micro == 18_000_000
    assert cost.usd_per_million_tokens_busy == pytest.approx(2.0)
    assert cost.usd_per_million_tokens == pytest.approx(5.0)


def test_a_pool_is_never_busier_than_all_the_time() -> None:
    row = IdleRow(
        day="2026-11-01", pool="p", hardware="h", up_us=100, paid_usd_micro=5, busy_us=155, busy_usd_micro=9, tokens=1
    )
    assert pool_cost(row).busy_share == 1.0


def test_a_pool_without_tokens_has_no_price_per_token() -> None:
    row = IdleRow(
        day="2026-11-01", pool="p", hardware="h", up_us=0, paid_usd_micro=5, busy_us=0, busy_usd_micro=9, tokens=0
    )
    assert pool_cost(row).usd_per_million_tokens is None
    assert pool_cost(row).idle_usd_micro == 0, "shares are estimates, and nobody is paid for idling"


def test_time_up_falls_on_its_day() -> None:
    meter = UptimeMeter("life")
    two = [RunningReplica("p", "h100", 3.6), RunningReplica("p", "h100", 3.6)]
    meter.tick(MIDNIGHT - 60, two)
    assert meter.uptimes() == ()
    meter.tick(MIDNIGHT + 30, [RunningReplica("p", "h100", 3.6)])
    meter.tick(MIDNIGHT + 90, [])
    meter.tick(MIDNIGHT + 150, two)
    before, after = meter.uptimes()
    assert (before.day, before.up_us, before.usd_micro) == ("2026-11-01", 120_000_000, 120_000)
    assert (after.day, after.up_us, after.usd_micro) == ("2026-11-02", 120_000_000, 120_000)
    assert after.source == "life"


def test_a_machine_that_slept_or_whose_clock_was_set_back_paid_for_nothing_meanwhile() -> None:
    meter = UptimeMeter("life")
    meter.tick(MIDNIGHT, [RunningReplica("p", "h", 1.0)])
    meter.tick(MIDNIGHT + 7200, [RunningReplica("p", "h", 1.0)])
    meter.tick(MIDNIGHT + 3600, [RunningReplica("p", "h", 1.0)])
    assert meter.uptimes() == ()


def test_days_that_are_over_are_not_kept() -> None:
    meter = UptimeMeter("life")
    for minute in range(0, 3 * 24 * 60, 4):
        meter.tick(MIDNIGHT + minute * 60, [RunningReplica("p", "h", 1.0)])
    assert [up.day for up in meter.uptimes()] == ["2026-11-03", "2026-11-04"]
    assert meter.uptimes()[0].up_us == 24 * HOUR_US
