"""LiteLLM by latency and by cost, and sessions of the vLLM production stack."""

from collections import Counter

import pytest

from heterodyne.domain.price import Price
from heterodyne.routing.peers.litellm_cost import LitellmCost, usd_per_token_pair
from heterodyne.routing.peers.litellm_latency import LitellmLatency
from heterodyne.routing.peers.vllm_stack_session import VllmStackSession
from heterodyne.routing.prediction.prior import Prior
from tests.unit.routing.peers.replica_states import ended, first, last, replica_state, routing_request, three

FAST = Prior(
    fixed_s=0.0,
    prompt_s=0.0,
    prompt_token_s=1e-4,
    prompt_token_squared_s=0.0,
    step_s=0.032,
    sequence_s=1e-3,
    context_token_s=0.0,
)


def test_who_has_not_answered_yet_goes_first() -> None:
    picker, replica_states = LitellmLatency(), three()
    a, b, c = replica_states
    picker.pick(routing_request(), replica_states, 0.0, first)
    picker.on_end(routing_request(), a, ended(1.0), 1.0)
    assert picker.pick(routing_request(), replica_states, 1.0, first) is b
    picker.on_end(routing_request(), b, ended(2.0), 2.0)
    assert picker.pick(routing_request(), replica_states, 2.0, last) is c
    picker.on_end(routing_request(), c, ended(3.0), 3.0)
    assert picker.pick(routing_request(), replica_states, 3.0, last) is a


def test_the_mean_is_of_the_last_ten_seconds_per_token() -> None:
    picker, (a, b, _) = LitellmLatency(), three()
    picker.pick(routing_request(), (a, b), 0.0, first)
    picker.on_end(routing_request(), b, ended(2.0, tokens=10), 1.0)  # 0.2
    picker.on_end(routing_request(), a, ended(20.0, tokens=10), 1.0)  # 2.0
    for _ in range(9):
        picker.on_end(routing_request(), a, ended(0.1, tokens=10), 1.0)  # 0.01: the mean is 0.209
    assert picker.pick(routing_request(), (a, b), 1.0, last) is b
    picker.on_end(routing_request(), a, ended(0.1, tokens=10), 1.0)  # the first is forgotten: 0.01
    assert picker.pick(routing_request(), (a, b), 1.0, last) is a


def test_of_a_streamed_answer_the_first_token_counts_and_of_a_broken_one_nothing() -> None:
    picker, (a, b, _) = LitellmLatency(), three()
    picker.pick(routing_request(), (a, b), 0.0, first)
    picker.on_end(routing_request(), a, ended(60.0, ttft_s=0.5, tokens=10), 1.0)  # 0.05
    picker.on_end(routing_request(), b, ended(1.0, tokens=10), 1.0)  # 0.1
    picker.on_end(routing_request(), a, ended(900.0, tokens=1, is_complete=False), 1.0)
    assert picker.pick(routing_request(), (a, b), 1.0, last) is a


def test_the_table_lapses_after_an_hour_without_an_end() -> None:
    picker, (a, b, _) = LitellmLatency(), three()
    picker.pick(routing_request(), (a, b), 0.0, first)
    picker.on_end(routing_request(), a, ended(1.0), 10.0)
    picker.on_end(routing_request(), b, ended(2.0), 10.0)
    assert picker.pick(routing_request(), (a, b), 3610.0, last) is a
    assert picker.pick(routing_request(), (a, b), 3610.1, last) is b


def test_prices_by_the_token_are_added_and_unknown_sides_cost_five_dollars() -> None:
    hosted = Price(usd_per_million_prompt_tokens=3.0, usd_per_million_completion_tokens=15.0)
    half = Price(usd_per_million_prompt_tokens=3.0)
    assert usd_per_token_pair(replica_state("a", 0, price=hosted)) == pytest.approx(18e-6)
    assert usd_per_token_pair(replica_state("a", 0, price=half)) == pytest.approx(5.000003)
    assert usd_per_token_pair(replica_state("a", 0)) == 10.0


def test_an_hourly_price_becomes_one_by_the_token_through_the_time_tokens_take() -> None:
    # A prompt token takes 0.1 ms, an output token (32 ms + 32 ms) / 32 = 2 ms; 3.6 dollars an hour are 0.001 a second.
    own = replica_state("a", 0, price=Price(usd_per_hour=3.6), prior=FAST)
    assert usd_per_token_pair(own) == pytest.approx(2.1e-6)


def test_the_cheapest_gets_everything_however_busy_it_is() -> None:
    own = replica_state("a", 0, price=Price(usd_per_hour=3.6), prior=FAST, in_flight=500)
    dear = replica_state("b", 1, price=Price(usd_per_hour=7.2), prior=FAST)
    unknown = replica_state("c", 2)
    assert LitellmCost().pick(routing_request(), (unknown, dear, own), 0.0, first) is own


def test_a_session_stays_on_its_replica_and_moves_only_when_that_leaves() -> None:
    picker, replica_states = VllmStackSession(), tuple(replica_state(f"r{place}", place) for place in range(8))
    homes = {
        f"s{number}": picker.pick(routing_request(session=f"s{number}"), replica_states, 0.0, first)
        for number in range(800)
    }
    fewer = replica_states[1:]
    for session, home in homes.items():
        if home is not replica_states[0]:
            assert picker.pick(routing_request(session=session), fewer, 0.0, last) is home
    assert all(60 < count < 140 for count in Counter(home.place for home in homes.values()).values())


def test_without_a_session_the_lowest_rate_of_the_last_minute_wins() -> None:
    picker, (a, b, _) = VllmStackSession(), three()
    for _ in range(3):
        picker.on_start(routing_request(), a, 0.0)
    picker.on_start(routing_request(), b, 100.0)
    # Three a hundred seconds ago are 3 exp(-100/60) = 0.57 now.
    assert picker.pick(routing_request(), (a, b), 100.0, first) is a
