"""One request on one replica: what its times teach, and what they do not."""

from random import Random

import pytest

from heterodyne.routing.forecast import forecast_on
from heterodyne.routing.prediction.pool_speed import PoolSpeed
from heterodyne.routing.replica_state import ReplicaState
from tests.support.replica_states import ROUND, replica_state, routing_request, send


def learned(one: ReplicaState) -> tuple[float, ...]:
    speed = one.speed
    return speed.ahead_s, speed.prompts, speed.steps, speed.step_s, speed.sequence_s, speed.prompts_between


def test_a_first_token_tells_its_ttft_once() -> None:
    one = replica_state()
    ticket = send(one, routing_request())
    ticket.first_token(0.3)
    ticket.first_token(0.4)
    assert (one.decoding, one.speed.ttft_band.samples) == (1, 1)
    assert one.speed.heard_at_s == 0.3


def test_one_that_never_began_teaches_nothing_and_leaves_nothing() -> None:
    one = replica_state()
    before = learned(one)
    send(one, routing_request()).end(30.0, output_tokens=0, is_complete=False)
    assert learned(one) == before
    assert (one.in_flight, one.waiting, one.decoding) == (0, 0, 0)


def test_one_that_broke_off_teaches_its_first_token_alone() -> None:
    one = replica_state()
    ticket = send(one, routing_request())
    ticket.first_token(0.12)
    ticket.end(60.0, output_tokens=50, is_complete=False)
    assert one.speed.step_s == ROUND.step_s
    assert one.speed.itl_band.samples == 0


def test_an_answer_of_a_few_tokens_says_nothing_of_the_pace() -> None:
    one = replica_state()
    ticket = send(one, routing_request())
    ticket.first_token(0.12)
    ticket.end(5.0, output_tokens=3)
    assert one.speed.itl_band.samples == 0


@pytest.mark.parametrize("streams", [True, False])
def test_answers_that_come_side_by_side_say_nothing_of_the_pace_of_one(streams: bool) -> None:
    one = replica_state()
    before = learned(one)
    for number in range(100):
        ticket = send(one, routing_request(1000, 1600, sequences=16, streams=streams), 10.0 * number)
        ticket.end(10.0 * number + 0.3, output_tokens=1600)
    assert learned(one) == before
    assert one.speed.itl_band.samples == 0


def test_an_answer_that_comes_whole_teaches_how_long_it_took_altogether() -> None:
    one = replica_state()
    for number in range(300):
        ticket = send(one, routing_request(1000, 100, streams=False), 10.0 * number)
        ticket.first_token(10.0 * number + 0.1)  # nobody may claim to have seen it
        ticket.end(10.0 * number + 0.24 + 99 * 0.02, output_tokens=100)
    forecast = forecast_on(one, routing_request(1000, 100), 0.0, 1e4)
    assert forecast.ttft_s + 99 * forecast.itl_s == pytest.approx(0.24 + 99 * 0.02, rel=0.1)
    assert forecast.itl_s == pytest.approx(0.02, rel=0.15)


def test_who_waited_for_room_teaches_nothing_about_prompts() -> None:
    one = replica_state(in_flight_max=1)
    for _ in range(5):
        send(one, routing_request())
    ticket = send(one, routing_request())
    assert ticket.forecast.room_s > 0
    before = learned(one)
    ticket.first_token(20.0)
    assert learned(one) == before
    assert one.speed.ttft_band_waiting.samples == 1


def serve(one: ReplicaState, requests: int, slowness: float, seed: int = 1) -> list[tuple[float, float]]:
    """One after another on an otherwise idle replica; each prediction with what came of it."""
    random, now_s, seen = Random(seed), 1e6 * seed, []
    for _ in range(requests):
        request = routing_request(random.randrange(100, 4000), 50.0)
        ticket = send(one, request, now_s)
        ttft_s = slowness * (0.02 + 1e-4 * request.prompt_tokens) * random.lognormvariate(0.0, 0.05)
        itl_s = slowness * (0.01 + 1e-4 + 1e-7 * request.prompt_tokens) * random.lognormvariate(0.0, 0.02)
        seen.append((ticket.forecast.ttft_s / ttft_s, ticket.forecast.itl_s / itl_s))
        ticket.first_token(now_s + ttft_s)
        now_s += ttft_s + 49 * itl_s
        ticket.end(now_s, output_tokens=50)
        now_s += 30.0  # so long that prompts are no part of anybody's time
    return seen


@pytest.mark.parametrize("slowness", [0.5, 1.0, 2.0])
def test_a_pool_that_is_silently_slower_is_learned_within_300_requests(slowness: float) -> None:
    one = replica_state(speed=PoolSpeed(ROUND))
    serve(one, 500, 1.0)
    serve(one, 300, slowness, seed=2)
    late = serve(one, 200, slowness, seed=3)
    assert sorted(abs(ttft - 1) for ttft, _ in late)[100] < 0.15
    assert sorted(abs(itl - 1) for _, itl in late)[100] < 0.08


def test_its_intervals_cover_eight_in_ten() -> None:
    one = replica_state(speed=PoolSpeed(ROUND))
    serve(one, 1000, 1.3)
    random, now_s, inside = Random(5), 5e6, 0
    for _ in range(1000):
        request = routing_request(random.randrange(100, 4000), 50.0)
        ticket = send(one, request, now_s)
        ttft_s = 1.3 * (0.02 + 1e-4 * request.prompt_tokens) * random.lognormvariate(0.0, 0.05)
        inside += ticket.forecast.ttft_low_s <= ttft_s <= ticket.forecast.ttft_high_s
        ticket.first_token(now_s + ttft_s)
        ticket.end(now_s + 1.0, output_tokens=0, is_complete=False)
        now_s += 2.0
    assert 0.75 <= inside / 1000 <= 0.85


def test_a_first_token_is_learned_from_though_another_answer_has_just_ended() -> None:
    one = replica_state()
    ended, begins = send(one, routing_request()), send(one, routing_request())
    ended.first_token(0.1)
    ended.end(0.5, output_tokens=50)
    before = one.speed.snapshot().samples
    begins.first_token(0.501)
    assert one.speed.snapshot().samples == before + 1
