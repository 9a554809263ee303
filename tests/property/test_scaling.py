"""Whatever comes, an autoscaler stays within its limits, names replicas that are there, and does not flap."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from heterodyne.planning.scaling.action import ActionKind
from heterodyne.planning.scaling.steadiness import TURNS_MAX
from tests.support.examples import examples
from tests.support.scaled_fleet import LOOK_S, ScaledFleet, scaling_rules

MAXIMUM = 9
# How long a rate holds, in looks, and the rate.
rates = st.lists(st.tuples(st.integers(1, 90), st.sampled_from((0.0, 0.4, 1.0, 2.5, 4.0, 7.0, 30.0))), max_size=16)


@given(rates, st.integers(0, 3), st.integers(0, 6), st.sampled_from((None, 4.0, 6.5)), st.floats(5, 400))
@settings(max_examples=examples(60), deadline=None)
def test_limits_hold_and_replicas_are_named_that_exist(
    coming: list[tuple[int, float]], minimum: int, ready: int, budget: float | None, cold_start_s: float
) -> None:
    rules = scaling_rules(minimum=minimum, maximum=MAXIMUM, budget_usd_per_hour=budget, cold_start_s=cold_start_s)
    fleet = ScaledFleet(rules, ready, cold_start_s=cold_start_s)
    for looks, rate in coming:
        for _ in range(looks):
            known, before = {one.id for one in fleet.replicas}, fleet.count
            decision = fleet.look(rate)
            assert decision.actions
            assert all(set(one.replicas) <= known for one in decision.actions)
            assert all(one.because for one in decision.actions)
            assert fleet.count <= max(before, MAXIMUM)
            assert fleet.count >= min(before, minimum)
            if budget is not None and fleet.count > before:
                assert fleet.count <= max(minimum, budget)
            if rate:
                assert fleet.count >= min(before, 1)


@given(rates, st.integers(1, 6), st.floats(5, 400))
@settings(max_examples=examples(60), deadline=None)
def test_no_hour_has_more_than_four_turns(coming: list[tuple[int, float]], ready: int, cold_start_s: float) -> None:
    fleet = ScaledFleet(scaling_rules(maximum=MAXIMUM, cold_start_s=cold_start_s), ready, cold_start_s=cold_start_s)
    turned: list[float] = []
    direction = 0
    for looks, rate in coming:
        for _ in range(looks):
            for action in fleet.look(rate).actions:
                step = {ActionKind.ADD: 1, ActionKind.KEEP: 1, ActionKind.DRAIN: -1}.get(action.kind, 0)
                if step and direction and step != direction:
                    turned.append(fleet.now_s)
                direction = step or direction
    for at_s in turned:
        assert sum(at_s - 3600 < one <= at_s for one in turned) <= TURNS_MAX


@given(rates)
@settings(max_examples=examples(30), deadline=None)
def test_what_was_seen_alone_decides(coming: list[tuple[int, float]]) -> None:
    first, second = (ScaledFleet(scaling_rules(), 3) for _ in range(2))
    for looks, rate in coming:
        for _ in range(looks):
            one, other = first.look(rate), second.look(rate)
            assert one == other
            assert structs.replace(one.state) == other.state
    assert first.now_s == sum(looks for looks, _ in coming) * LOOK_S
