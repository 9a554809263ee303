"""Batch and background work fills what interactive work leaves."""

import pytest

from heterodyne.domain.errors import NoSpareCapacity
from heterodyne.domain.fleet import FleetSnapshot, ModelRule, ReplicaId
from heterodyne.domain.routing_rule import Reason, RoutingRule
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.model_router import RESERVE_HALF_LIFE_S, Reserve
from heterodyne.routing.router import Router
from heterodyne.routing.ticket import Ticket
from tests.support.replica_states import ROUND, replica, routing_request

BATCH = routing_request(1000, urgency=Urgency.BATCH)
RULE = ModelRule(routing=RoutingRule(ttft_slo_s=1.0, itl_slo_s=0.03))


def router(*prices: float) -> tuple[Router, FleetSnapshot]:
    replicas = tuple(replica(f"r{number}", f"p{number}", usd_per_hour=price) for number, price in enumerate(prices))
    fleet = FleetSnapshot.of(1, replicas, {replicas[0].model: RULE})
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


def test_batch_work_stops_where_it_would_cost_others_their_promise() -> None:
    to, fleet = router(1.0)
    with pytest.raises(NoSpareCapacity) as caught:
        place(to, fleet, BATCH, 1000, 0.0)
    assert caught.value.retry_after_s
    waiting = routing_request(100, ttft_slo_s=1.0, itl_slo_s=0.03)
    assert to.forecast(waiting, ReplicaId("r0"), 0.0).itl_s < 0.03, "what was promised is still to be had"


def test_room_that_interactive_work_had_a_moment_ago_is_kept_for_it() -> None:
    to, fleet = router(1.0)
    interactive = routing_request(100, ttft_slo_s=1.0, itl_slo_s=0.03)
    for ticket in place(to, fleet, interactive, 60, 0.0):
        ticket.end(1.0, output_tokens=20)
    at_once = _room(to, fleet, 1.0)
    later, again = router(1.0)
    for ticket in place(later, again, interactive, 60, 0.0):
        ticket.end(1.0, output_tokens=20)
    assert at_once < _room(later, again, 1.0 + 10 * RESERVE_HALF_LIFE_S)


def test_a_reserve_forgets_what_is_long_ago() -> None:
    reserve = Reserve()
    for _ in range(8):
        reserve.start(0.0)
    for _ in range(8):
        reserve.end()
    assert reserve.to_come(0.0) == 8
    assert reserve.to_come(RESERVE_HALF_LIFE_S) == pytest.approx(4)
    assert reserve.to_come(2 * RESERVE_HALF_LIFE_S) == pytest.approx(2)


def _room(to: Router, fleet: FleetSnapshot, now_s: float) -> int:
    """Batch requests that find a place."""
    for placed in range(10_000):
        try:
            place(to, fleet, BATCH, 1, now_s)
        except NoSpareCapacity:
            return placed
    raise AssertionError("there is no end to it")
