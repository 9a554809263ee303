"""The last minute and the last half hour, against the records themselves."""

import random
from collections.abc import Sequence

import pytest

from heterodyne.console.history.figures import figures_of
from heterodyne.console.live.recent_activity import (
    RECORDS_MAX,
    SETTLE_S,
    SPARK_MINUTES,
    WINDOW_S,
    RecentActivity,
    RecentWindow,
)
from heterodyne.domain.history import History, HistoryGroup, Series, Step, Sums
from heterodyne.domain.spread import percentile_ms
from heterodyne.domain.usage import UsageRecord
from heterodyne.domain.usage_tally import UsageTally
from tests.support.plain_sums import sums_of
from tests.support.usage_records import record

NOON = 1_793_534_400.0


def ended_at(at: float, **other: object) -> UsageRecord:
    """A request of a second that ended then."""
    return record(random.randrange(10**9), at=at - 1.0, total_ms=1000.0, **other)


def assert_same(sums: Sums, records: Sequence[UsageRecord]) -> None:
    """But for what floating point makes of another order."""
    expected = sums_of(records)
    for name in Sums.__struct_fields__:
        found, wanted = getattr(sums, name), getattr(expected, name)
        if isinstance(wanted, int):
            assert found == wanted, name
        else:
            assert found.counts == wanted.counts, name
            assert found.sum_ms == pytest.approx(wanted.sum_ms), name


def within(window: RecentWindow, records: Sequence[UsageRecord]) -> list[UsageRecord]:
    ends = range(window.until_at - WINDOW_S, window.until_at)
    return [one for one in records if int(one.at + one.total_ms / 1000) in ends]


def test_every_second_the_window_equals_the_records_that_ended_in_it() -> None:
    chance = random.Random(7)
    recent_activity, records = RecentActivity(), []
    for tick in range(200):
        now = NOON + tick
        batch = [
            record(
                chance.randrange(10**9),
                at=now - chance.random() * 20,
                total_ms=chance.random() * 18_000,
                pool=chance.choice(["a", "b", ""]),
                reason=chance.choice(["", "", "overloaded"]),
                ttft_ms=chance.choice([None, chance.lognormvariate(4, 1)]),
                itl_ms=chance.choice([None, chance.lognormvariate(2, 1)]),
                queue_ms=chance.choice([None, 3.0]),
                promise=chance.choice(["", "kept", "broken"]),
                predicted_ttft_ms=50.0,
                usd_micro=chance.randrange(100),
            )
            for _ in range(chance.randrange(12))
        ]
        records += batch
        recent_activity.on_added(UsageTally(batch))
        if tick % 50 > 3:  # sometimes nobody looks for a while
            window = recent_activity.window(now)
            assert window.until_at == int(now) - SETTLE_S
            expected = within(window, records)
            assert_same(window.whole, expected)
            for pool in ("a", "b"):
                assert_same(window.by_pool.get(pool, Sums()), [one for one in expected if one.pool == pool])


def test_a_record_that_comes_late_is_counted_in_its_own_second() -> None:
    recent_activity = RecentActivity()
    recent_activity.window(NOON)
    recent_activity.on_added(UsageTally([ended_at(NOON - 30)]))
    assert recent_activity.window(NOON + 1).whole.requests == 1
    assert recent_activity.window(NOON + 35).whole.requests == 0


def test_a_clock_that_goes_back_loses_nothing() -> None:
    recent_activity = RecentActivity()
    recent_activity.on_added(UsageTally([ended_at(NOON - 10)]))
    assert recent_activity.window(NOON).whole.requests == 1
    assert recent_activity.window(NOON - 5).whole.requests == 1
    assert recent_activity.window(NOON + 300).whole.requests == 0


def test_what_nobody_looks_at_does_not_grow() -> None:
    recent_activity = RecentActivity()
    for hour in range(3):
        recent_activity.on_added(UsageTally([ended_at(NOON + 3600 * hour + second) for second in range(2000)]))
    assert len(recent_activity._seconds._by_time) <= 2 * WINDOW_S
    assert len(recent_activity._minutes._by_time) <= SPARK_MINUTES + 2
    assert len(recent_activity.latest(0, 10**9)) == RECORDS_MAX


def test_sparks_are_the_minutes_of_the_history_and_of_what_came_since() -> None:
    recent_activity = RecentActivity()
    before = [record(number, at=NOON - 120 + number, pool="a", ttft_ms=10.0 + number) for number in range(5)]
    step = Step(at=int(NOON) - 120, sums=sums_of(before))
    recent_activity.seed(
        History(
            since_at=int(NOON) - 1800,
            until_at=int(NOON),
            step_s=60,
            series=(Series(group={HistoryGroup.POOL: "a"}, steps=(step,)),),
        )
    )
    since = [record(9, at=NOON - 100, pool="a", ttft_ms=500.0), record(10, at=NOON - 59, pool="a", ttft_ms=40.0)]
    sparks = recent_activity.sparks(NOON)
    assert sparks.by_pool["a"].ttft_p50_ms[-3] == percentile_ms(sums_of(before).ttft, 0.5)
    recent_activity.on_added(UsageTally(since))
    spark = recent_activity.sparks(NOON).by_pool["a"]
    assert sparks.at == int(NOON) - 60 * (SPARK_MINUTES - 1)
    assert len(spark.ttft_p50_ms) == len(spark.tokens_per_s) == SPARK_MINUTES
    assert spark.ttft_p50_ms[-3] == percentile_ms(sums_of([*before, since[0]]).ttft, 0.5)
    assert spark.tokens_per_s[-3] == pytest.approx(figures_of(sums_of([*before, since[0]]), 60).tokens_per_s)
    assert spark.ttft_p50_ms[-2] == percentile_ms(sums_of([since[1]]).ttft, 0.5)
    assert (spark.ttft_p50_ms[-1], spark.tokens_per_s[-1]) == (None, 0.0)


def test_the_latest_come_newest_first_and_only_those_since() -> None:
    recent_activity = RecentActivity()
    recent_activity.on_added(UsageTally([record(number) for number in range(10)]))
    assert [one.id for one in recent_activity.latest(7, 60)] == ["req_0009", "req_0008", "req_0007"]
    assert len(recent_activity.latest(0, 4)) == 4
    assert recent_activity.latest(10, 60) == []
