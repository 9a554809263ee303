"""The parts of a decision, each alone: capacity, demand, floors, cold starts, waits and the choice of hardware."""

from math import cos, pi
from random import Random

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.planning.scaling.capacity import DEARER_MAX, DEARER_MIN, CapacityCurve, beyond_chance
from heterodyne.planning.scaling.cold_start import KEPT, ColdStarts
from heterodyne.planning.scaling.demand import RecentDemand, demand_of
from heterodyne.planning.scaling.floor import floor_of
from heterodyne.planning.scaling.hardware_choice import additions, given_up, removals
from heterodyne.planning.scaling.limits import PoolLimits, ScalingRules
from heterodyne.planning.scaling.observation import Observation, PoolObservation, ScaledReplica
from heterodyne.planning.scaling.shape import LoadSample
from heterodyne.planning.scaling.state import ScalingState, observed
from heterodyne.planning.scaling.trust import LatenessSample, corrected

A, B = PoolName("a"), PoolName("b")


def curve(*points: tuple[int, float]) -> CapacityCurve:
    return CapacityCurve(points=points, prompt_token=0.001, output_token=0.01, output_tokens=90.0)


def samples(rates: list[float], seed: int = 1) -> list[LoadSample]:
    """By chance, every ten seconds."""
    chance = Random(seed)
    return [
        LoadSample(at_s=10.0 * place, span_s=10.0, requests=sum(chance.random() < rate / 20 for _ in range(200)))
        for place, rate in enumerate(rates, 1)
    ]


def test_a_curve_is_straight_between_its_points_and_after_the_last() -> None:
    known = curve((1, 1.0), (3, 5.0))
    assert [known.requests_per_s(count) for count in (0, 1, 2, 3, 6)] == [0.0, 1.0, 3.0, 5.0, 10.0]
    assert [known.replicas_for(rate) for rate in (0.0, 0.1, 1.0, 1.1, 5.0, 5.1, 10.0)] == [0, 1, 1, 2, 3, 4, 6]


def test_a_curve_that_does_not_rise_is_refused() -> None:
    with pytest.raises(InvalidSpec, match="must rise"):
        curve((1, 1.0), (2, 0.9))


def test_measured_points_are_smoothed_by_the_square_root_law() -> None:
    smooth = CapacityCurve.smoothed(((1, 0.42), (4, 2.05), (9, 4.6), (16, 8.8)))
    rates = [rate / count for count, rate in smooth]
    assert rates == sorted(rates)
    assert rates[-1] == pytest.approx(0.54, abs=0.02)


def test_a_usual_request_weighs_one() -> None:
    known = CapacityCurve.of(
        ((1, 1.0),), prompt_tokens=500, output_tokens=200, prompt_token_s=0.0002, output_token_s=0.002
    )
    assert 500 * known.prompt_token + 200 * known.output_token == pytest.approx(1.0)


USUAL = CapacityCurve.of(
    ((1, 1.0), (10, 10.0)), prompt_tokens=800, output_tokens=400, prompt_token_s=0.0002, output_token_s=0.003
)


def test_means_that_chance_may_have_made_are_the_usual_ones() -> None:
    assert [beyond_chance(ratio) for ratio in (0.92, 1.0, 1.09)] == [1.0, 1.0, 1.0]
    assert 1.0 < beyond_chance(1.15) < 1.15
    assert beyond_chance(1.5) == pytest.approx(1.5)
    assert beyond_chance(0.5) == pytest.approx(0.5)
    assert beyond_chance(0.0) == 0.0


def test_longer_prompts_take_more_than_their_work_and_short_answers_save_less() -> None:
    assert USUAL.dearer(1.0, 1.0) == pytest.approx(1.0)
    assert USUAL.dearer(1.5, 1.0) > 1.3
    assert USUAL.dearer(1.0, 0.5) > 1.05
    assert USUAL.dearer(0.5, 1.0) < 0.9
    assert USUAL.dearer(0.03, 0.02) == DEARER_MIN, "far from what was simulated nothing is saved beyond that"
    assert USUAL.dearer(100.0, 1.0) == DEARER_MAX
    assert curve((1, 1.0)).dearer(0.1, 0.1) == 1.0, "what the curve was found with is not known"


def test_answers_whose_length_becomes_known_are_no_change_of_demand() -> None:
    rules = ScalingRules(pools=(PoolLimits(pool=A, capacity=USUAL),))
    state = ScalingState()
    for place in range(60):
        state = observed(
            state,
            rules,
            Observation(
                at_s=10.0 * place,
                span_s=10.0,
                arrivals=50,
                prompt_tokens=40_000,
                ended=50,
                output_tokens=5_000,
                pools=(),
            ),
        )
    counted = {round(one.requests, 6) for one in state.samples}
    assert len(counted) == 1
    assert counted.pop() < 0.7 * 50
    demand = demand_of(state.samples)
    assert demand.slope == 0.0
    assert not demand.has_fallen


def lateness(share: float, seconds: float) -> list[LatenessSample]:
    looks = range(0, int(seconds), 10)
    return [LatenessSample(at_s=at_s, ended=20, late=round(20 * share), arrivals=20, risk=0.0) for at_s in looks]


def test_a_budget_that_nobody_uses_makes_bolder_even_where_there_were_shortages() -> None:
    for enough_since_s in (None, 0.0, 1700.0):
        trust = corrected(1.0, lateness(0.0, 2000), allowed=0.01, now_s=2000.0, enough_since_s=enough_since_s)
        assert trust > 1.0
    assert corrected(1.0, lateness(0.0, 900), allowed=0.01, now_s=900.0, enough_since_s=0.0) == 1.0
    assert corrected(1.0, lateness(0.1, 2000), allowed=0.01, now_s=2000.0, enough_since_s=None) == 1.0
    assert corrected(1.0, lateness(0.1, 2000), allowed=0.01, now_s=2000.0, enough_since_s=0.0) < 1.0


def test_a_step_shows_within_half_a_minute_and_is_no_trend() -> None:
    found = demand_of(samples([3.0] * 60 + [9.0] * 3))
    assert found.now > 6.0
    assert found.slope == 0.0


def test_chance_alone_proves_little() -> None:
    found = [demand_of(samples([4.0] * 60, seed)) for seed in range(40)]
    assert max(one.now for one in found) < 5.2
    assert sum(one.slope > 0.001 for one in found) <= 2


def test_a_rise_is_a_trend_that_goes_on() -> None:
    found = demand_of(samples([2.0 + place * 0.05 for place in range(90)]))
    assert found.slope == pytest.approx(0.005, rel=0.4)
    assert found.ahead(120.0) > 6.0


def test_a_rise_that_has_begun_minutes_ago_is_followed_from_where_it_began() -> None:
    found = demand_of(samples([2.0] * 60 + [2.0 + place * 0.15 for place in range(20)]))
    assert found.now == pytest.approx(4.85, rel=0.15)
    assert found.slope > 0.008
    assert found.lasted_s < 300.0


def test_a_young_rise_is_not_taken_to_go_on_for_long() -> None:
    young = RecentDemand(now=4.0, mean=4.0, slope=0.01, lasted_s=60.0)
    assert young.ahead(120.0) == pytest.approx(4.24)
    assert young.ahead(10.0) == pytest.approx(4.1)


def test_what_came_before_a_fall_says_nothing_any_more() -> None:
    found = demand_of(samples([8.0] * 60 + [3.0] * 9))
    assert found.has_fallen
    assert found.now < 4.5
    assert not demand_of(samples([8.0] * 60 + [3.0])).has_fallen


def day(step: int) -> float:
    return 4.0 - 3.0 * cos(step / 144 * 2 * pi)


def test_there_is_no_floor_before_there_is_a_record() -> None:
    assert floor_of([], 0.0).steps == ()
    assert floor_of([2.0] * 30, 18_000.0).steps == ()


def test_the_time_of_day_is_believed_once_it_has_been_right() -> None:
    chance = Random(3)
    past = [day(step) * chance.lognormvariate(0.0, 0.05) for step in range(3 * 144 + 40)]
    floor = floor_of(past, len(past) * 600.0)
    assert floor.rule == "time of day"
    assert floor.steps[0].expected == pytest.approx(day(len(past)), rel=0.15)
    assert floor.steps[0].high >= floor.steps[0].expected * 0.98


def test_weekends_are_known_after_two_weeks() -> None:
    def week(step: int) -> float:
        return day(step) * (0.3 if step // 144 % 7 >= 5 else 1.0)

    chance = Random(4)
    past = [week(step) * chance.lognormvariate(0.0, 0.05) for step in range(19 * 144)]
    assert floor_of(past, len(past) * 600.0).rule == "day of the week"


def test_floors_become_better_with_every_day() -> None:
    chance = Random(5)
    past = [day(step) * chance.lognormvariate(0.0, 0.1) for step in range(6 * 144)]
    errors = [floor_of(past[: days * 144], 0.0).error for days in (1, 2, 5)]
    assert errors == sorted(errors, reverse=True)


def test_cold_starts_are_what_was_said_until_they_are_measured() -> None:
    starts = ColdStarts(said_s=100.0)
    assert (starts.usual_s, starts.late_s) == (100.0, 100.0)
    measured = starts.with_measured(tuple(float(one) for one in range(20, 100)))
    assert len(measured.measured_s) == KEPT
    assert measured.usual_s == pytest.approx(84.0)
    assert measured.late_s > measured.usual_s


def two_pools(**changed: float) -> ScalingRules:
    return ScalingRules(
        pools=(
            PoolLimits(pool=A, capacity=curve((1, 1.0), (10, 10.0)), usd_per_hour=1.0, maximum=3),
            PoolLimits(pool=B, capacity=curve((1, 3.0), (10, 30.0)), usd_per_hour=4.0, maximum=8, minimum=0),
        ),
        **changed,  # type: ignore[arg-type]
    )


STARTS = {A: ColdStarts(said_s=60.0), B: ColdStarts(said_s=60.0)}


def test_the_hardware_with_the_fewest_dollars_a_kept_promise_is_added_until_it_is_full() -> None:
    assert additions(two_pools(), {A: 1, B: 0}, 2.5, STARTS) == ({A: 2}, True)
    assert additions(two_pools(), {A: 1, B: 0}, 8.5, STARTS) == ({A: 2, B: 2}, True)


def test_hardware_that_starts_too_slowly_is_worth_less() -> None:
    slow = {A: ColdStarts(said_s=1800.0), B: ColdStarts(said_s=30.0)}
    assert additions(two_pools(), {A: 1, B: 0}, 2.0, slow) == ({B: 1}, True)


def test_what_limits_do_not_allow_is_said() -> None:
    assert additions(two_pools(budget_usd_per_hour=3.0), {A: 1, B: 0}, 8.5, STARTS) == ({A: 2}, False)


def test_the_dearest_goes_first() -> None:
    assert removals(two_pools(), {A: 3, B: 1}, 2.0, STARTS) == {B: 1, A: 1}


def test_who_serves_nobody_is_given_up_before_who_holds_conversations() -> None:
    pool = PoolObservation(
        pool=A,
        replicas=(
            ScaledReplica(id=ReplicaId("busy"), stage=ReplicaStage.READY, sessions=9, in_flight=3),
            ScaledReplica(id=ReplicaId("gone"), stage=ReplicaStage.DRAINING),
            ScaledReplica(id=ReplicaId("idle"), stage=ReplicaStage.READY, sessions=1),
            ScaledReplica(id=ReplicaId("coming"), stage=ReplicaStage.WARMING),
        ),
    )
    assert given_up(pool, 2) == ("coming", "idle")
