"""What a key usually spends, what is more than chance, and how often chance is taken for more."""

import random
from collections.abc import Iterable
from math import exp

import pytest

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse.cost_anomaly import CostAnomaly
from heterodyne.safety.abuse.key_spending import KeySpending
from heterodyne.safety.abuse.settings import AbuseSettings
from heterodyne.safety.abuse.usual_spending import student_t, usual_hour

HOUR_S = 3600
BEGIN = 500_000 * HOUR_S
SETTINGS = AbuseSettings(watch="cost")


def sign(usd: float, hour: float, key: str = "k") -> AbuseSign:
    return AbuseSign(key, "a/b", "m", "m", BEGIN + hour * HOUR_S, usd)


def alarms(hours: Iterable[float], settings: AbuseSettings = SETTINGS, watch: CostAnomaly | None = None) -> list[int]:
    """The hours in which a key is found that spends so in each."""
    watch = CostAnomaly("cost", settings) if watch is None else watch
    return [hour for hour, usd in enumerate(hours) if usd and watch.observe(sign(usd, hour))]


@pytest.mark.parametrize(("upper", "freedom", "value"), [(0.025, 10, 2.228), (1e-4, 10, 5.694), (1e-4, 1e6, 3.719)])
def test_students_t_is_as_tables_have_it(upper: float, freedom: float, value: float) -> None:
    assert student_t(upper, freedom) == pytest.approx(value, rel=0.01)


def test_an_hour_much_dearer_than_all_before_is_found() -> None:
    steady = [2.0 + 0.2 * (hour % 5) for hour in range(72)]
    assert alarms([*steady, 30.0]) == [72]
    assert alarms([*steady, 3.5]) == [], "less than three times the usual"


def test_a_thief_is_found_within_the_hour_and_not_at_its_end() -> None:
    watch = CostAnomaly("cost", SETTINGS)
    alarms([2.0] * 72, watch=watch)
    found = [minute for minute in range(60) if watch.observe(sign(20.0 / 60, 72 + minute / 60))]
    assert found[0] < 25, "ten times the usual dollars pass three times the usual hour after a third of it"


def test_a_key_that_is_new_is_not_judged() -> None:
    assert alarms([1.0] * 20 + [500.0]) == []


def test_little_money_is_never_too_much() -> None:
    assert alarms([0.001] * 72 + [0.9]) == []


def test_a_key_that_comes_in_bursts_has_spent_that_before() -> None:
    bursts = [40.0 if hour % 20 == 0 else 1.0 for hour in range(100)]
    assert alarms([*bursts, 39.0]) == []


def test_work_of_every_night_is_usual_at_night_and_not_at_noon() -> None:
    """Beside what it has spent in any hour, nothing is judged: a nightly batch is as dear as a thief at noon."""
    days = [20.0 if hour % 24 == 2 else 1.0 for hour in range(24 * 14)]
    assert alarms(days) == []


def test_what_was_too_dear_does_not_become_usual_at_once() -> None:
    hours = [2.0 + 0.1 * (hour % 3) for hour in range(100)] + [50.0] * 10
    assert len(alarms(hours)) == 10


def test_what_lasts_becomes_usual() -> None:
    hours = [2.0] * 100 + [50.0] * 24 * 16
    assert not set(range(100 + 24 * 14, len(hours))) & set(alarms(hours))


def test_false_alarms_are_about_as_many_as_stated() -> None:
    """Hours whose logarithms are normal, the model that the threshold is worked out by; without the other bounds."""
    rng, found, keys, days = random.Random(7), 0, 16, 14
    settings = AbuseSettings(watch="cost", usd_min=0.0, factor_min=1.0, false_alarms_per_year=50.0)
    for _ in range(keys):
        found += len(alarms((exp(rng.gauss(0.0, 0.5)) for _ in range(days * 24)), settings))
    per_year = found / (keys * (days - 1) / 365)
    assert per_year <= 75, "fifty are stated"


def test_what_a_key_has_spent_is_known_after_a_restart() -> None:
    before = CostAnomaly("cost", SETTINGS)
    alarms([2.0] * 72, watch=before)
    after = CostAnomaly("cost", SETTINGS)
    for saved in before.saved():
        after.recall(saved, BEGIN + 73 * HOUR_S)
    assert after.observe(sign(30.0, 73.5))


def test_hours_without_spending_and_a_clock_that_is_set_back_do_no_harm() -> None:
    spending = KeySpending(BEGIN)
    spending.add(1.0, BEGIN)
    spending.add(1.0, BEGIN - 5 * HOUR_S)
    assert spending.last_hour_usd == 2.0
    spending.add(4.0, BEGIN + 100 * 24 * HOUR_S)
    assert (spending.last_hour_usd, spending.active_hours()) == (4.0, [])


def test_no_more_keys_are_known_than_may_be() -> None:
    watch = CostAnomaly("cost", SETTINGS, keys_max=10)
    for number in range(50):
        watch.observe(sign(1.0, number / 60, key=f"k{number}"))
    assert len(watch) == 10


def test_few_hours_leave_more_room_than_many() -> None:
    hours = [1.0, 2.0, 1.5, 3.0] * 6
    few, many = usual_hour((), hours, 1.0), usual_hour((), hours * 10, 1.0)
    assert few.usd == many.usd
    assert few.usd_max > many.usd_max
