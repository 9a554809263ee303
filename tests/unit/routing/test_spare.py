"""Batch and background work fills what interactive work leaves."""

import pytest

from heterodyne.domain.errors import NoSpareCapacity
from heterodyne.domain.fleet import FleetSnapshot, ModelRule, ReplicaId
from heterodyne.domain.routing_rule import Reason, RoutingRule
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.forecast import forecast_on
from heterodyne.routing.model_router import Reserve
from heterodyne.routing.replica_state import PATIENT_FORGOTTEN_S, PATIENT_MIN, ReplicaState
from heterodyne.routing.router import Router
from heterodyne.routing.spare import HALF_LIFE_S, forecast_beside
from heterodyne.routing.ticket import Ticket
from tests.support.replica_states import ROUND, replica, routing_request

BATCH = routing_request(1000, urgency=Urgency.BATCH)
SMALL = routing_request(10, urgency=Urgency.BATCH)
RULE = ModelRule(routing=RoutingRule(ttft_slo_s=1.0, itl_slo_s=0.03))


def router(*prices: float, rule: ModelRule = RULE) -> tuple[Router, FleetSnapshot]:
    replicas = tuple(replica(f"r{number}", f"p{number}", usd_per_hour=price) for number, price in enumerate(prices))
    fleet = FleetSnapshot.of(1, replicas, {replicas[0].model: rule})
    return Router(fleet, prior_of=lambda _: ROUND, chance=lambda: 0.5, now_s=0.0), fleet


def place(to: Router, fleet: FleetSnapshot, request: object, count: int, now_s: float) -> list[Ticket]:
    """So many are placed, and decode."""
    tickets = []
    for _ in range(count):
        forecast = to.decide(request, fleet.replicas, now_s).forecast  # type: ignore[arg-type]
        tickets.append(to.start(request, forecast, now_s))  # type: ignore[arg-type]
        tickets[-1].first_token(now_s)
    return tickets


def test_batch_work_goes_to_the_cheapest_replica_with_room() -> None:
    to, fleet = router(9.0, 1.0)
    choice = to.decide(BATCH, fleet.replicas, 0.0)
    assert (choice.target.id, choice.reason) == ("r1", Reason.SPARE)


def test_an_only_replica_is_no_exception() -> None:
    to, fleet = router(1.0)
    assert to.decide(BATCH, fleet.replicas, 0.0).reason is Reason.SPARE


def test_a_pace_that_nobody_could_keep_is_no_reason_to_wait_for_an_idle_replica() -> None:
    to, fleet = router(1.0)
    impossible = routing_request(100, itl_slo_s=1e-6, urgency=Urgency.BATCH)
    assert to.decide(impossible, fleet.replicas, 0.0).reason is Reason.SPARE
    place(to, fleet, routing_request(100, ttft_slo_s=1.0, itl_slo_s=0.03), 1, 0.0)
    with pytest.raises(NoSpareCapacity):
        to.decide(impossible, fleet.replicas, 0.0)


def test_batch_work_begins_with_few_and_doubles_as_they_end() -> None:
    to, fleet = router(1.0, rule=ModelRule())
    begun = place(to, fleet, SMALL, PATIENT_MIN, 0.0)
    with pytest.raises(NoSpareCapacity):
        to.decide(SMALL, fleet.replicas, 0.0)
    for ticket in begun:
        ticket.end(1.0, output_tokens=20)
    begun = place(to, fleet, SMALL, 2 * PATIENT_MIN, 1.0)
    with pytest.raises(NoSpareCapacity):
        to.decide(SMALL, fleet.replicas, 1.0)
    for ticket in begun:
        ticket.end(2.0, output_tokens=20)
    place(to, fleet, SMALL, 3 * PATIENT_MIN, 1.9 + PATIENT_FORGOTTEN_S)  # a pause is no reason to begin again


def test_batch_work_begins_with_few_again_after_a_while() -> None:
    to, fleet = router(1.0, rule=ModelRule())
    for ticket in place(to, fleet, SMALL, PATIENT_MIN, 0.0):
        ticket.end(1.0, output_tokens=20)
    place(to, fleet, SMALL, PATIENT_MIN, 1.1 + PATIENT_FORGOTTEN_S)
    with pytest.raises(NoSpareCapacity):
        to.decide(SMALL, fleet.replicas, 1.1 + PATIENT_FORGOTTEN_S)


def test_prompts_that_came_a_moment_ago_may_come_again() -> None:
    to, _ = router(1.0)
    state = _grown(to)
    quiet = forecast_beside(state, 0.0, BATCH, 0.0, 100.0)
    for _ in range(40):
        state.speed.add_prompt(0.1, 100.0)
    forecast_beside(state, 0.0, BATCH, 0.0, 100.0)  # looks at it
    busy = forecast_beside(state, 0.0, BATCH, 0.0, 120.0)
    assert forecast_on(state, BATCH, 0.0, 120.0).itl_s < 1.3 * quiet.itl_s, "they are nearly over"
    assert busy.itl_s > 2 * quiet.itl_s
    assert (state.speed.prompt_rate, state.others) == (pytest.approx(0.8), 0), "nothing is left changed"


def test_batch_work_stops_where_it_would_cost_others_their_promise() -> None:
    to, fleet = router(1.0)
    _grown(to)
    with pytest.raises(NoSpareCapacity) as caught:
        place(to, fleet, BATCH, 1000, 0.0)
    assert caught.value.retry_after_s
    waiting = routing_request(100, ttft_slo_s=1.0, itl_slo_s=0.03)
    assert to.forecast(waiting, ReplicaId("r0"), 0.0).itl_s < 0.03, "what was promised is still to be had"


def test_room_that_interactive_work_had_a_moment_ago_is_kept_for_it() -> None:
    to, fleet = router(1.0)
    _grown(to)
    interactive = routing_request(100, ttft_slo_s=1.0, itl_slo_s=0.03)
    for ticket in place(to, fleet, interactive, 60, 0.0):
        ticket.end(1.0, output_tokens=20)
    at_once = _room(to, fleet, 1.0)
    later, again = router(1.0)
    _grown(later)
    for ticket in place(later, again, interactive, 60, 0.0):
        ticket.end(1.0, output_tokens=20)
    assert at_once < _room(later, again, 1.0 + 10 * HALF_LIFE_S)


def test_a_reserve_forgets_what_is_long_ago() -> None:
    reserve = Reserve()
    for _ in range(8):
        reserve.start(0.0)
    for _ in range(8):
        reserve.end()
    assert reserve.to_come(0.0) == 8
    assert reserve.to_come(HALF_LIFE_S) == pytest.approx(4)
    assert reserve.to_come(2 * HALF_LIFE_S) == pytest.approx(2)


def _grown(to: Router) -> ReplicaState:
    """Batch work has been there for long."""
    state = to.forecast(BATCH, ReplicaId("r0"), 0.0).state
    state.patient_max, state.patient_seen_s = 10_000, 1e9
    return state


def _room(to: Router, fleet: FleetSnapshot, now_s: float) -> int:
    """Batch requests that find a place."""
    for placed in range(10_000):
        try:
            place(to, fleet, BATCH, 1, now_s)
        except NoSpareCapacity:
            return placed
    raise AssertionError("there is no end to it")
