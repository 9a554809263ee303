"""One look after the other: what is asked for, what is let go, and what is said about it."""

import msgspec
import pytest
from msgspec import structs

from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.planning.scaling.action import ActionKind, ScalingReason
from heterodyne.planning.scaling.autoscaler import scale
from heterodyne.planning.scaling.observation import Observation, PoolObservation
from heterodyne.planning.scaling.state import ScalingState
from heterodyne.planning.scaling.steadiness import TURNS_MAX
from tests.support.scaled_fleet import LOOK_S, POOL, ScaledFleet, scaling_rules


def test_steady_demand_that_is_carried_changes_nothing() -> None:
    fleet = ScaledFleet(scaling_rules(), 5)
    assert fleet.watch(4.5, 3600) == []
    assert fleet.look(4.5).actions[0].reason is ScalingReason.ENOUGH


def test_a_step_is_answered_within_a_minute_and_for_all_of_it() -> None:
    fleet = ScaledFleet(scaling_rules(), 4)
    fleet.watch(3.0, 900)
    actions = fleet.watch(9.0, 60)
    assert {one.kind for one in actions} == {ActionKind.ADD}
    assert fleet.count >= 9


def test_a_rise_is_met_before_it_is_there() -> None:
    fleet = ScaledFleet(scaling_rules(), 4)
    fleet.watch(3.0, 600)
    reasons = set()
    for place in range(180):
        decision = fleet.look(3.0 + place / 60)
        reasons |= {one.reason for one in decision.actions if one.kind is ActionKind.ADD}
        if place > 60:
            assert sum(one.stage is ReplicaStage.READY for one in fleet.replicas) >= 2.4 + place / 60
    assert ScalingReason.TREND in reasons


def test_less_demand_lets_replicas_go_once_it_has_lasted() -> None:
    fleet = ScaledFleet(scaling_rules(), 8)
    fleet.watch(7.0, 900)
    assert fleet.watch(3.0, 120) == []
    fleet.watch(3.0, 1500)
    assert fleet.count == 4


def test_nothing_drains_before_demand_has_been_watched_for_a_while() -> None:
    fleet = ScaledFleet(scaling_rules(), 9)
    assert fleet.watch(2.0, 250) == []
    assert fleet.look(2.0).actions[0].reason is ScalingReason.UNSEEN


@pytest.mark.parametrize("period", [300, 600, 900, 1500])
def test_demand_that_swings_never_turns_the_fleet_more_than_four_times_an_hour(period: int) -> None:
    fleet = ScaledFleet(scaling_rules(), 4)
    turns: list[float] = []
    direction = 0
    for look in range(1440):
        rate = 9.0 if look * LOOK_S % period < period / 2 else 2.0
        for action in fleet.look(rate).actions:
            step = {ActionKind.ADD: 1, ActionKind.KEEP: 1, ActionKind.DRAIN: -1}.get(action.kind, 0)
            if step and direction and step != direction:
                turns.append(fleet.now_s)
            direction = step or direction
    assert all(sum(at_s - 3600 < one <= at_s for one in turns) <= TURNS_MAX for at_s in turns)


def test_requests_that_are_held_wake_a_pool_from_zero_and_idleness_puts_it_back() -> None:
    fleet = ScaledFleet(scaling_rules(minimum=0, idle_s=600.0), 0)
    assert fleet.look(0.0).actions[0].kind is ActionKind.HOLD
    [wake] = fleet.look(0.1, waiting=1, held=1).actions
    assert (wake.kind, wake.count, wake.reason) == (ActionKind.ADD, 1, ScalingReason.WAKE)
    assert "1 requests are held" in wake.because
    fleet.watch(0.0, 300)
    assert fleet.count == 1
    actions = fleet.watch(0.0, 600)
    assert [one.reason for one in actions] == [ScalingReason.IDLE]
    assert fleet.count == 0


def test_the_last_replica_stays_while_requests_come() -> None:
    fleet = ScaledFleet(scaling_rules(minimum=0), 3)
    fleet.watch(0.2, 7200)
    assert fleet.count == 1


def test_a_minimum_is_kept_and_a_maximum_is_not_exceeded() -> None:
    few = ScaledFleet(scaling_rules(minimum=3), 1)
    few.look(0.0)
    assert few.count == 3
    many = ScaledFleet(scaling_rules(maximum=5), 4)
    many.watch(3.0, 600)
    many.watch(50.0, 600)
    assert many.count == 5
    last = many.look(50.0).actions[0]
    assert (last.kind, last.reason) == (ActionKind.HOLD, ScalingReason.LIMITS)
    assert "limits allow no more" in last.because


def test_a_budget_is_not_exceeded() -> None:
    fleet = ScaledFleet(scaling_rules(budget_usd_per_hour=6.5), 4)
    fleet.watch(3.0, 600)
    fleet.watch(12.0, 600)
    assert fleet.count == 6


def test_headroom_is_a_part_of_what_is_needed() -> None:
    fleet = ScaledFleet(scaling_rules(headroom=0.25), 8)
    assert fleet.watch(6.3, 3600) == []
    fleet.watch(8.0, 900)
    assert fleet.count == 10


def test_a_fall_that_is_beyond_doubt_lets_replicas_go_soon() -> None:
    fleet = ScaledFleet(scaling_rules(), 12)
    fleet.watch(11.0, 900)
    fleet.watch(4.0, 300)
    assert fleet.count == 5


def test_a_spare_replica_comes_on_top() -> None:
    without, with_spare = ScaledFleet(scaling_rules(), 4), ScaledFleet(scaling_rules(spare=1), 4)
    for fleet in (without, with_spare):
        fleet.watch(6.5, 900)
    assert with_spare.count == without.count + 1


def test_a_notice_drains_the_replica_and_asks_for_another_at_once() -> None:
    fleet = ScaledFleet(scaling_rules(), 4)
    fleet.watch(3.9, 900)
    fleet.replicas[0] = structs.replace(fleet.replicas[0], taken_at_s=fleet.now_s + 120)
    drain, add = fleet.look(3.9).actions
    assert (drain.kind, drain.replicas, drain.reason) == (
        ActionKind.DRAIN, (fleet.replicas[0].id,), ScalingReason.SPOT_NOTICE,
    )  # fmt: skip
    assert (add.kind, add.count) == (ActionKind.ADD, 1)


def test_a_replica_that_still_drains_is_taken_back_before_another_is_started() -> None:
    fleet = ScaledFleet(scaling_rules(), 6)
    fleet.watch(5.0, 900)
    fleet.replicas[0] = structs.replace(fleet.replicas[0], stage=ReplicaStage.DRAINING)
    seen = Observation(
        at_s=fleet.now_s + 10,
        span_s=10.0,
        arrivals=60,
        waiting=200,
        pools=(PoolObservation(pool=POOL, replicas=tuple(fleet.replicas)),),
    )
    first = scale(fleet.rules, fleet.state, seen).actions[0]
    assert (first.kind, first.replicas) == (ActionKind.KEEP, (fleet.replicas[0].id,))


def test_requests_that_are_late_although_there_is_room_lower_what_the_capacity_is_taken_for() -> None:
    fleet = ScaledFleet(scaling_rules(), 5)
    fleet.watch(4.6, 900)
    for _ in range(120):
        fleet.look(4.6, late=8)
    assert fleet.state.trust < 0.9
    assert fleet.count > 5


def test_every_action_says_why_and_what_would_be_otherwise() -> None:
    fleet = ScaledFleet(scaling_rules(), 4)
    actions = [*fleet.watch(3.0, 900), *fleet.watch(9.0, 300), *fleet.watch(2.0, 2400)]
    assert {one.kind for one in actions} == {ActionKind.ADD, ActionKind.DRAIN}
    assert all(one.because and one.otherwise for one in actions)


def test_the_state_is_a_value_that_can_be_written_down() -> None:
    fleet = ScaledFleet(scaling_rules(), 4)
    fleet.watch(3.0, 1800)
    assert msgspec.json.decode(msgspec.json.encode(fleet.state), type=ScalingState) == fleet.state


def test_the_state_stays_bounded_over_weeks() -> None:
    fleet = ScaledFleet(scaling_rules(forecasts=False), 4)
    fleet.watch(3.0, 40_000)
    state = fleet.state
    assert len(state.samples) <= 100
    assert len(state.lateness) <= 362
    assert len(state.steadiness.needs) <= 60
    assert len(state.past) == 66
