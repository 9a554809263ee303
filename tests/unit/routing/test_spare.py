"""Batch and background work fills what interactive work leaves."""

from contextlib import suppress

import pytest

from heterodyne.domain.errors import NoSpareCapacity
from heterodyne.domain.fleet import FleetSnapshot, ModelRule, ReplicaId
from heterodyne.domain.routing_rule import Reason, RoutingRule
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.replica_state import PATIENT_FORGOTTEN_S, PATIENT_MIN, ReplicaState
from heterodyne.routing.reserve import HALF_LIFE_S, LATELY_S, Reserve
from heterodyne.routing.router import Router
from heterodyne.routing.spare import ITL_SHARE, forecast_beside
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


def test_a_replica_is_judged_by_its_part_of_all_interactive_work() -> None:
    to, _ = router(1.0, 1.0)
    idle, busy = _grown(to), to.forecast(BATCH, ReplicaId("r1"), 0.0).state
    for _ in range(20):
        busy.speed.add_prompt(0.1, 0.0)
    quiet, prompts, requests = (
        forecast_beside(idle, BATCH, 0.0, 0.0, requests=requests, tokens_per_s=tokens_per_s).itl_s
        for requests, tokens_per_s in (
            (0.0, 0.0),
            (0.0, busy.speed.prompt_rate / busy.speed.prompt_token_s),
            (100.0, 0.0),
        )
    )
    assert prompts > 1.3 * quiet
    assert requests > 1.3 * quiet
    assert (idle.speed.prompt_rate, idle.others) == (0.0, 0.0), "nothing is left changed"


def test_lines_on_one_replica_make_no_room_by_driving_interactive_work_to_another() -> None:
    interactive = routing_request(100, ttft_slo_s=1.0, itl_slo_s=0.03)
    rooms = []
    for count in (0, 60):
        to, fleet = router(1.0, 9.0)
        _grown(to)
        for _ in range(count):
            to.start(interactive, to.forecast(interactive, ReplicaId("r1"), 0.0), 0.0).first_token(0.0)
        rooms.append(_room(to, FleetSnapshot.of(2, fleet.replicas[:1], fleet.rules), 0.0))
    assert rooms[1] < 0.8 * rooms[0]


def test_prompts_that_wait_hold_batch_work_back() -> None:
    to, fleet = router(1.0)
    _grown(to)
    before = _room(to, fleet, 0.0)
    to, fleet = router(1.0)
    _grown(to)
    waiting = routing_request(4000, ttft_slo_s=1.0, itl_slo_s=0.03)
    to.start(waiting, to.forecast(waiting, ReplicaId("r0"), 0.0), 0.0)
    assert _room(to, fleet, 0.0) == 0 < before


def test_batch_work_stops_where_it_would_cost_others_their_promise() -> None:
    to, fleet = router(1.0)
    _grown(to)
    with pytest.raises(NoSpareCapacity) as caught:
        place(to, fleet, BATCH, 1000, 0.0)
    assert caught.value.retry_after_s
    state = to.forecast(BATCH, ReplicaId("r0"), 0.0).state
    waiting = routing_request(100, ttft_slo_s=1.0, itl_slo_s=0.03)
    itl_s = to.forecast(waiting, ReplicaId("r0"), 0.0).itl_s
    assert 0.5 * 0.03 < itl_s < 0.03, "what was promised is still to be had"
    assert state.step_s - state.speed.sequence_s < ITL_SHARE * 0.03, "without the one that comes"


def test_lines_wait_while_short_answers_would_be_too_slow_with_the_prompts_that_wait() -> None:
    to, fleet = router(1.0)
    state = _grown(to)
    place(to, fleet, SMALL, 1, 0.0)
    for number in range(200):
        state.speed.patient_share.learn(True, False, 5, number, number)
    waiting = routing_request(250, ttft_slo_s=1.0, itl_slo_s=0.03)
    ticket = to.start(waiting, to.forecast(waiting, ReplicaId("r0"), 0.0), 0.0)
    assert state.free_at_s < 0.15 * 1.0, "the first token is not what would be late"
    with pytest.raises(NoSpareCapacity):
        to.decide(SMALL, fleet.replicas, 0.0)
    ticket.first_token(0.02)
    assert to.decide(SMALL, fleet.replicas, 0.02).reason is Reason.SPARE


def test_missed_promises_leave_less_room() -> None:
    rooms = []
    for missed in (0, 4):
        to, fleet = router(1.0)
        state = _grown(to)
        for number in range(missed):
            state.speed.patient_share.learn(False, True, 20, number, number)
        rooms.append(_room(to, fleet, 0.0))
    assert 0 < rooms[1] < rooms[0]


def test_room_that_interactive_work_had_a_moment_ago_is_kept_for_it() -> None:
    to, fleet = router(1.0)
    _grown(to)
    interactive = routing_request(100, ttft_slo_s=1.0, itl_slo_s=0.03)
    begun = place(to, fleet, interactive, 60, 0.0)
    with suppress(NoSpareCapacity):  # it has seen them
        place(to, fleet, BATCH, 1, 0.5)
    for ticket in begun:
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


def test_a_reserve_knows_what_was_there_a_moment_ago() -> None:
    reserve = Reserve()
    for _ in range(8):
        reserve.start(0.0)
    assert reserve.lately(0.0) == 8
    for _ in range(8):
        reserve.end()
    assert reserve.lately(LATELY_S) == pytest.approx(4)
    reserve.start(LATELY_S)
    assert reserve.lately(10 * LATELY_S) == 1


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
