"""How much of a promise batch work may use up follows from the promises that are missed beside it."""

from random import Random

import pytest

from heterodyne.domain.fleet import FleetSnapshot, ModelRule, ReplicaId
from heterodyne.domain.routing_rule import RoutingRule
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.prediction.patient_share import DECREASE, MISSED_MAX, SHARE_MIN, SHORT, PatientShare
from heterodyne.routing.router import Router
from tests.support.replica_states import ROUND, replica, routing_request

ITL_SLO_S, TTFT_SLO_S = 0.03, 1.0
PROMISED = routing_request(100, ttft_slo_s=TTFT_SLO_S, itl_slo_s=ITL_SLO_S)
BATCH = routing_request(100, urgency=Urgency.BATCH)


def test_missed_promises_take_and_kept_ones_give_back() -> None:
    share = PatientShare()
    share.learn(False, True, 20, 0.0, 1.0)
    taken = share.share
    assert taken < 1.0
    share.learn(True, True, 20, 0.0, 1.0)
    assert taken < share.share < 1.0


def test_one_crowd_of_missed_promises_takes_once() -> None:
    share = PatientShare()
    for _ in range(5):
        share.learn(False, True, 20, 0.0, 1.0)
    once = share.share
    assert once == pytest.approx(1.0 - DECREASE)
    share.learn(False, True, 20, 1.5, 2.0)
    assert share.share < once


def test_what_is_missed_where_no_batch_work_is_takes_nothing() -> None:
    share = PatientShare()
    share.learn(False, False, 20, 0.0, 1.0)
    assert share.share == 1.0


def test_it_is_never_more_than_all_and_never_nothing() -> None:
    share = PatientShare()
    for number in range(1000):
        share.learn(True, True, 20, number, number)
    assert share.share == 1.0
    for number in range(1000):
        share.learn(False, True, 20, number, number)
    assert share.share == SHARE_MIN


def test_short_answers_are_a_part_of_the_usual_one() -> None:
    share = PatientShare()
    for number in range(1000):
        share.learn(True, False, 1000, number, number)
    assert share.short_tokens == pytest.approx(1000 * SHORT)


def test_it_rests_where_as_many_are_missed_as_may_be() -> None:
    """Promises are missed the more the more of them is used up."""
    share, chance, missed = PatientShare(), Random(1).random, 0
    for number in range(60_000):
        is_kept = chance() > 2 * MISSED_MAX * share.share
        share.learn(is_kept, True, 20, number, number)
        missed += not is_kept and number >= 20_000
    assert missed / 40_000 == pytest.approx(MISSED_MAX, rel=0.3)


@pytest.mark.parametrize(
    ("first_s", "took_s", "is_kept"),
    [(0.5, 0.5, True), (1.5, 0.5, False), (0.5, 1.5, False)],
)
def test_a_stream_that_was_late_or_slow_beside_batch_work_missed_its_promise(
    first_s: float, took_s: float, is_kept: bool
) -> None:
    listed = replica("r0", "p0", usd_per_hour=1.0)
    rule = ModelRule(routing=RoutingRule(ttft_slo_s=TTFT_SLO_S, itl_slo_s=ITL_SLO_S))
    fleet = FleetSnapshot.of(1, (listed,), {listed.model: rule})
    router = Router(fleet, prior_of=lambda _: ROUND, chance=lambda: 0.5, now_s=0.0)
    router.start(BATCH, router.decide(BATCH, fleet.replicas, 0.0).forecast, 0.0)
    forecast = router.forecast(PROMISED, ReplicaId("r0"), 0.0)
    ticket = router.start(PROMISED, forecast, 0.0)
    ticket.first_token(first_s)
    ticket.end(first_s + took_s, output_tokens=21)
    assert (forecast.state.speed.patient_share.share == 1.0) is is_kept
