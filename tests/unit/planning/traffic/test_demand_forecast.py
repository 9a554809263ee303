"""Forecasts of demand over days that were made up."""

from itertools import pairwise
from math import pi, sin

import pytest

from heterodyne.planning.traffic.demand_forecast import AHEAD_STEPS, forecast
from heterodyne.planning.traffic.demand_rules import DAY_STEPS, STEP_S

NOON_AT = 1_800_000_000 // STEP_S * STEP_S


def day(step: int) -> float:
    """Between 2 and 18 requests a second, highest in the morning."""
    return 10.0 + 8.0 * sin(2 * pi * step / DAY_STEPS)


def noisy_day(step: int) -> float:
    """The same with a fixed up and down that no rule can know."""
    return day(step) * (0.8 if step * 7919 % 13 < 6 else 1.2)


@pytest.mark.parametrize("days", [2, 5, 14])
def test_a_daily_pattern_is_recovered(days: int) -> None:
    past = [day(step) for step in range(days * DAY_STEPS)]
    found = forecast(past, ends_at=NOON_AT)
    assert [one.requests_per_s for one in found.steps] == pytest.approx(
        [day(len(past) + ahead) for ahead in range(AHEAD_STEPS)]
    )
    assert found.basis.startswith(f"demand now and the usual of the same time over {days}.0 days")


def test_steps_follow_each_other_from_the_end_of_the_past() -> None:
    steps = forecast([1.0] * 10, ends_at=NOON_AT).steps
    assert steps[0].at == NOON_AT
    assert {after.at - before.at for before, after in pairwise(steps)} == {STEP_S}
    assert len(steps) * STEP_S == 6 * 3600


@pytest.mark.parametrize("steps", [1, 5, 60, 3 * DAY_STEPS])
def test_flat_stays_flat(steps: int) -> None:
    found = forecast([4.0] * steps, ends_at=NOON_AT)
    assert [one.requests_per_s for one in found.steps] == pytest.approx([4.0] * AHEAD_STEPS)


def test_a_busier_day_than_usual_raises_the_rest_of_it_and_less_the_later_it_is() -> None:
    past = [day(step) for step in range(4 * DAY_STEPS)]
    past[-24:] = [2 * rate for rate in past[-24:]]
    steps = forecast(past, ends_at=NOON_AT).steps
    ratios = [one.requests_per_s / day(len(past) + ahead) for ahead, one in enumerate(steps)]
    assert ratios[0] == pytest.approx(2.0, rel=0.05)
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[-1] == pytest.approx(2**0.5, rel=0.05)


def test_one_strange_day_among_many_is_not_usual() -> None:
    past = [day(step) for step in range(7 * DAY_STEPS)]
    past[3 * DAY_STEPS : 4 * DAY_STEPS] = [100.0] * DAY_STEPS
    steps = forecast(past, ends_at=NOON_AT).steps
    assert [one.requests_per_s for one in steps] == pytest.approx([day(ahead) for ahead in range(AHEAD_STEPS)])


def test_with_little_history_a_trend_goes_on_and_dies_down() -> None:
    found = forecast([float(step) for step in range(1, 25)], ends_at=NOON_AT)
    rates = [one.requests_per_s for one in found.steps]
    assert rates == sorted(rates)
    gains = [after - before for before, after in pairwise(rates)]
    assert gains == sorted(gains, reverse=True)
    assert rates[-1] < 35, "six hours of the same trend would be sixty"
    assert "4.0 hours of history" in found.basis


def test_demand_is_never_below_nothing() -> None:
    steps = forecast([float(step) for step in range(20, -1, -1)], ends_at=NOON_AT).steps
    assert all(0 <= one.low <= one.requests_per_s <= one.high for one in steps)


def test_little_history_gives_a_wide_band() -> None:
    young = forecast([10.0] * 3, ends_at=NOON_AT).steps
    old = forecast([10.0] * (10 * DAY_STEPS), ends_at=NOON_AT).steps
    assert young[0].high == pytest.approx(30.0, rel=0.01)
    assert young[0].low == pytest.approx(10 / 3, rel=0.01)
    assert old[0].high - old[0].low < 0.1


def test_nine_of_ten_later_steps_are_within_the_band() -> None:
    steps = [noisy_day(step) for step in range(14 * DAY_STEPS)]
    inside = total = 0
    for origin in range(10 * DAY_STEPS, 14 * DAY_STEPS - AHEAD_STEPS, 17):
        for ahead, one in enumerate(forecast(steps[:origin], ends_at=NOON_AT).steps):
            inside += one.low <= steps[origin + ahead] <= one.high
            total += 1
    assert inside / total > 0.85


def test_demand_where_there_usually_is_none_is_carried_on() -> None:
    past = [0.0] * (3 * DAY_STEPS)
    past[0] = 1.0
    past[-12:] = [5.0] * 12
    assert 4.0 < forecast(past, ends_at=NOON_AT).steps[0].requests_per_s <= 5.0


def test_without_any_request_there_is_no_forecast() -> None:
    assert forecast([], ends_at=NOON_AT).steps == ()
    assert forecast([0.0, 0.0], ends_at=NOON_AT).steps == ()


def test_the_same_past_gives_the_same_forecast() -> None:
    past = [noisy_day(step) for step in range(400)]
    assert forecast(past, ends_at=NOON_AT) == forecast(past, ends_at=NOON_AT)


@pytest.mark.parametrize("steps", [3, 60, 3 * DAY_STEPS])
def test_the_forecast_starts_from_present_demand(steps: int) -> None:
    found = forecast([0.84] * steps, ends_at=NOON_AT, present=6.5).steps
    assert found[0].requests_per_s == pytest.approx(6.5)
    assert all(one.requests_per_s > 3.0 for one in found), "what has come does not vanish within six hours"
    assert found[0].low <= 6.5 <= found[0].high


def test_what_sets_the_present_apart_fades_where_a_day_is_usual() -> None:
    past = [day(step) for step in range(5 * DAY_STEPS)]
    steps = forecast(past, ends_at=NOON_AT, present=30.0).steps
    apart = [one.requests_per_s - day(len(past) + ahead) for ahead, one in enumerate(steps)]
    assert apart == sorted(apart, reverse=True)
    assert apart[-1] == pytest.approx(apart[0] / 2, rel=0.05)


def test_a_forecast_without_a_record_is_not_credible() -> None:
    assert not forecast([1.0] * 5, ends_at=NOON_AT, present=1.0).is_credible
    assert not forecast([], ends_at=NOON_AT, present=4.0).is_credible
    assert forecast([1.0] * 60, ends_at=NOON_AT, present=1.0).is_credible
