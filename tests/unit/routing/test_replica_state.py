"""One replica as the router sees it: sums, backlog, and what one more request would take."""

from math import inf

import pytest
from msgspec import structs

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.price import Price
from heterodyne.routing.forecast import forecast_on
from heterodyne.routing.prediction.pool_speed import PoolSpeed
from heterodyne.routing.replica_state import ReplicaState
from tests.support.replica_states import LATER_S, ROUND, fill, replica, replica_state, routing_request, send


def sums(one: ReplicaState) -> tuple[float, ...]:
    return (
        one.in_flight,
        one.waiting,
        one.decoding,
        one.waiting_tokens,
        one.waiting_work_s,
        one.context_tokens,
    )


def test_an_idle_replica_takes_what_the_prior_says() -> None:
    forecast = forecast_on(replica_state(), routing_request(1000, 100), 0.0, 0.0)
    assert forecast.ttft_s == pytest.approx(0.02 + 0.1)
    assert forecast.itl_s == pytest.approx(0.01 + 1e-4 + 1e-7 * 1050)
    assert (forecast.backlog_s, forecast.room_s, forecast.wait_s, forecast.steps_s) == (0.0, 0.0, 0.0, 0.0)
    assert forecast.load == pytest.approx(0.01)
    assert forecast.ttft_low_s < forecast.ttft_s < forecast.ttft_high_s
    assert forecast.itl_low_s < forecast.itl_s < forecast.itl_high_s


def test_sums_return_to_zero_whichever_way_requests_end() -> None:
    one = replica_state()
    streamed, given_up, whole = (
        send(one, routing_request(700, 33.3)),
        send(one, routing_request(1300, 7.1)),
        send(one, routing_request(streams=False)),
    )
    assert (one.in_flight, one.waiting, one.decoding) == (3, 2, 1)
    streamed.first_token(0.1)
    assert (one.in_flight, one.waiting, one.decoding) == (3, 1, 2)
    given_up.end(0.2, output_tokens=0, is_complete=False)
    streamed.end(0.5, output_tokens=30)
    whole.end(0.6, output_tokens=90)
    assert sums(one) == (0,) * 6
    assert one.free_at_s == pytest.approx(0.6)


def test_prompts_that_wait_make_the_next_one_wait() -> None:
    one = replica_state()
    send(one, routing_request(1000))
    assert one.free_at_s == pytest.approx(0.1)
    send(one, routing_request(3000))
    assert one.free_at_s == pytest.approx(0.4)
    assert forecast_on(one, routing_request(), 0.0, 0.0).backlog_s == pytest.approx(0.4)


def test_a_prompt_under_way_is_partly_done() -> None:
    one = replica_state()
    send(one, routing_request(2000))
    assert forecast_on(one, routing_request(), 0.0, 0.15).backlog_s == pytest.approx(0.05)


def test_prompts_of_which_nothing_is_heard_are_not_thought_done() -> None:
    one = replica_state()
    for _ in range(3):
        send(one, routing_request(1000))
    # Long past the time they should have taken, only the first may be nearly done.
    assert one.floor_s == pytest.approx(0.2)
    assert forecast_on(one, routing_request(), 0.0, 100.0).backlog_s == pytest.approx(0.2)


def test_a_first_token_starts_the_clock_of_the_next_in_line() -> None:
    one = replica_state()
    first = send(one, routing_request(1000))
    send(one, routing_request(1000))
    first.first_token(0.5)
    assert one.free_at_s == pytest.approx(0.5 + 0.1 * one.speed.prompts)


def test_answers_that_come_whole_are_thought_to_take_their_time() -> None:
    one = replica_state()
    ticket = send(one, routing_request(1000, streams=False))
    assert forecast_on(one, routing_request(), 0.0, 0.0).backlog_s == pytest.approx(0.1)
    assert forecast_on(one, routing_request(), 0.0, 0.2).backlog_s == pytest.approx(0.0)
    ticket.end(1.0, output_tokens=100)
    assert one.in_flight == 0


def test_a_forecast_grows_with_load() -> None:
    loads = []
    for decoding in (0, 10, 50, 90, 150):
        one = replica_state()
        fill(one, decoding)
        loads.append(forecast_on(one, routing_request(ttft_slo_s=1.0, itl_slo_s=0.03), 0.0, LATER_S))
    for field in ("ttft_s", "itl_s", "load"):
        values = [getattr(forecast, field) for forecast in loads]
        assert values == sorted(values), field
    # Once everybody there is late anyway, one more makes fewer late than it would have before.
    risks = [forecast.risk for forecast in loads[:4]]
    assert risks == sorted(risks)
    assert len({forecast.usd for forecast in loads}) == 1


def test_a_full_replica_makes_wait_until_somebody_leaves() -> None:
    one = replica_state(prior=structs.replace(ROUND, slots=10))
    fill(one, 10)
    forecast = forecast_on(one, routing_request(), 0.0, LATER_S)
    assert forecast.load == pytest.approx(1.1)
    assert forecast.room_s == pytest.approx(0.1 * one.speed.answer_tokens * forecast.itl_s)
    assert forecast.ttft_s > forecast.room_s


def test_memory_fills_before_slots_where_contexts_are_long() -> None:
    one = replica_state(prior=structs.replace(ROUND, kv_tokens=10_000))
    fill(one, 3, routing_request(3000, 100))
    assert forecast_on(one, routing_request(3000, 100), 0.0, LATER_S).load == pytest.approx(4 * 3050 / 10_000)


def test_what_is_cached_is_not_computed_again() -> None:
    one = replica_state()
    one.trust = 1.0
    cold, warm = forecast_on(one, routing_request(1000), 0.0, 0.0), forecast_on(one, routing_request(1000), 800.0, 0.0)
    assert cold.ttft_s - warm.ttft_s == pytest.approx(0.08)
    assert warm.cached_tokens == 800


def test_the_index_is_believed_as_far_as_it_is_trusted() -> None:
    one = replica_state()
    one.trust = 0.5
    assert forecast_on(one, routing_request(1000), 800.0, 0.0).cached_tokens == 400


def test_sequences_from_elsewhere_count_by_the_engines_own_account() -> None:
    one = replica_state()
    fill(one, 3)
    one.publish(replica("a", load=EngineLoad(running=10, waiting=2, kv_tokens=50_000)), LATER_S)
    assert one.others == 9
    assert one.kv_tokens == 50_000
    assert forecast_on(one, routing_request(), 0.0, LATER_S).load == pytest.approx(
        max(13 / 100, (3 * 1050 + 1050) / 50_000)
    )
    one.publish(replica("a", load=EngineLoad(running=0, waiting=0)), LATER_S)
    assert one.others == 0


def test_an_hour_of_a_replica_is_shared_by_its_requests() -> None:
    one = replica_state(usd_per_hour=3600.0)
    long, short = (
        forecast_on(one, routing_request(2000, 200), 0.0, 0.0),
        forecast_on(one, routing_request(1000, 100), 0.0, 0.0),
    )
    assert 1.9 < long.usd / short.usd < 2.2
    assert forecast_on(replica_state(), routing_request(), 0.0, 0.0).usd == inf


def test_hosted_capacity_costs_by_the_token() -> None:
    price = Price(usd_per_million_prompt_tokens=2.0, usd_per_million_completion_tokens=8.0)
    forecast = forecast_on(replica_state(price=price), routing_request(1000, 100), 0.0, 0.0)
    assert forecast.usd == pytest.approx(0.002 + 0.0008)


def test_a_replica_that_may_hold_few_requests_is_full_with_few() -> None:
    one = replica_state(in_flight_max=2)
    fill(one, 2)
    assert forecast_on(one, routing_request(), 0.0, LATER_S).load == pytest.approx(1.5)


def test_without_a_promise_there_is_nothing_to_break() -> None:
    one = replica_state(prior=structs.replace(ROUND, slots=10))
    fill(one, 30)
    assert forecast_on(one, routing_request(), 0.0, LATER_S).risk == 0.0


def test_the_risk_counts_those_that_one_more_would_make_late() -> None:
    alone, crowd = replica_state(), replica_state()
    fill(crowd, 60)
    tight = routing_request(20_000, 100, itl_slo_s=0.0201)
    assert forecast_on(crowd, tight, 0.0, LATER_S).risk > forecast_on(alone, tight, 0.0, LATER_S).risk + 1


def test_what_ran_between_two_moments_can_be_read() -> None:
    one = replica_state(speed=PoolSpeed(ROUND))
    for ticket in (send(one, routing_request()), send(one, routing_request())):
        ticket.first_token(1.0)
    before = one.areas(1.0)
    send(one, routing_request(500)).first_token(6.0)
    sequences, context, work_s = (later - sooner for later, sooner in zip(one.areas(11.0), before, strict=True))
    assert sequences == pytest.approx(5 * 2 + 5 * 3)
    assert context == pytest.approx(5 * 2 * 1050 + 5 * (2 * 1050 + 550), rel=0.1)
    assert work_s == pytest.approx(0.05)


def test_a_short_request_more_does_not_shorten_the_wait_for_memory() -> None:
    one = replica_state(prior=structs.replace(ROUND, kv_tokens=10_000))
    fill(one, 10, routing_request(1500, 1000))
    before = forecast_on(one, routing_request(), 0.0, LATER_S).ttft_s
    fill(one, 1, routing_request(1, 1))
    assert forecast_on(one, routing_request(), 0.0, LATER_S).ttft_s >= before


def test_a_refused_prompt_leaves_no_prediction_of_its_prefill_behind() -> None:
    one = replica_state()
    for streams in (False, True):
        refused = send(one, routing_request(300_000, streams=streams))
        assert forecast_on(one, routing_request(), 0.0, 0.0).wait_s > 25
        refused.end(0.01, output_tokens=0, is_complete=False)
        assert forecast_on(one, routing_request(), 0.0, 0.01).wait_s == 0.0
        assert not any(structs.astuple(one.snapshot()))


@pytest.mark.parametrize("gone", ["first", "last"])
def test_a_whole_answer_that_ends_early_gives_back_the_time_of_its_own_prompt_alone(gone: str) -> None:
    one = replica_state()
    first, last = send(one, routing_request(1000, streams=False)), send(one, routing_request(300_000, streams=False))
    ending, waits_s = (first, 30.0) if gone == "first" else (last, 0.1)
    ending.end(0.0, output_tokens=0, is_complete=False)
    assert forecast_on(one, routing_request(), 0.0, 0.0).backlog_s == pytest.approx(waits_s)


def test_a_refused_prompt_behind_an_answer_that_decodes_takes_none_of_its_time() -> None:
    one = replica_state()
    decoding = send(one, routing_request(10_000, streams=False))  # its prompt is done after a second
    send(one, routing_request(300_000, streams=False), 50.0).end(50.1, output_tokens=0, is_complete=False)
    assert forecast_on(one, routing_request(), 0.0, 50.1).backlog_s == pytest.approx(0.0)
    decoding.end(60.0, output_tokens=100)
    assert not any(structs.astuple(one.snapshot()))


def test_a_ticket_ends_once() -> None:
    ticket = send(replica_state(), routing_request())
    ticket.end(1.0, output_tokens=1)
    with pytest.raises(AssertionError, match="ends once"):
        ticket.end(2.0, output_tokens=1)
