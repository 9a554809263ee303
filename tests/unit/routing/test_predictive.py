"""The choice between forecasts: promises first, then what the objective prefers, and chance between equals."""

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from msgspec import structs

from heterodyne.domain.routing_rule import Reason, RoutingRule
from heterodyne.routing.catalogue import objective
from heterodyne.routing.kv.prefix_matches import prefix_matches
from heterodyne.routing.prediction.pool_speed import PoolSpeed
from heterodyne.routing.prediction.prior import Prior
from heterodyne.routing.predictive import EXPLORED_SHARE, STALE_S, choose
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from tests.support.replica_states import LATER_S, ROUND, even, fill, replica_state, routing_request, send

SLOW = structs.replace(ROUND, fixed_s=0.2, prompt_token_s=2e-4)


def pool(name: str, replicas: int, place: int = 0, prior: Prior = ROUND, **facts: object) -> list[ReplicaState]:
    speed = PoolSpeed(prior)
    return [replica_state(f"{name}-{n}", place + n, speed=speed, **facts) for n in range(replicas)]


def place(
    request: RoutingRequest,
    pools: list[list[ReplicaState]],
    policy: str = "slo",
    *,
    cached: dict[int, float] | None = None,
    now_s: float = LATER_S,
    chance: Callable[[], float] = even,
) -> RoutingChoice:
    known = prefix_matches(cached or {})
    return choose(request, pools, known, objective(policy, RoutingRule()), now_s=now_s, chance=chance)


def test_the_faster_pool_is_chosen_by_slo_and_the_cheaper_by_cost() -> None:
    pools = [pool("slow", 2, prior=SLOW, usd_per_hour=0.1), pool("fast", 2, place=2, usd_per_hour=10.0)]
    for number, (policy, target, reason) in enumerate(
        [("slo", "fast", Reason.FASTEST), ("cost", "slow", Reason.CHEAPEST)]
    ):
        choice = place(routing_request(ttft_slo_s=2.0), pools, policy)
        assert (choice.target.id.split("-")[0], choice.reason) == (target, reason), number


def test_within_a_pool_the_least_busy_is_chosen() -> None:
    replica_states = pool("p", 4)
    for busy in (0, 1, 3):
        fill(replica_states[busy], 10)
    choice = place(routing_request(), [replica_states])
    assert (choice.forecast.state, choice.reason) == (replica_states[2], Reason.ONLY_POOL)


def test_a_longer_line_of_prompts_is_avoided() -> None:
    replica_states = pool("p", 3)
    for number, prompts in enumerate((3, 1, 2)):
        for _ in range(prompts):
            send(replica_states[number], routing_request(2000))
    assert place(routing_request(), [replica_states], now_s=0.0).forecast.state is replica_states[1]


def test_a_warm_replica_is_worth_a_line_as_long_as_what_it_saves() -> None:
    replica_states = pool("p", 2)
    for one in replica_states:
        one.trust = 1.0
    send(replica_states[1], routing_request(2000))  # 0.2 s
    cached = {1: 5000.0}  # 0.5 s
    assert place(routing_request(6000), [replica_states], cached=cached, now_s=0.0).forecast.state is replica_states[1]
    for _ in range(3):
        send(replica_states[1], routing_request(2000))
    assert place(routing_request(6000), [replica_states], cached=cached, now_s=0.0).forecast.state is replica_states[0]


def test_replicas_whose_steps_are_too_slow_come_last() -> None:
    replica_states = pool("p", 2)
    fill(replica_states[0], 60)  # steps of 22 ms
    send(replica_states[1], routing_request(5000), LATER_S)  # quick steps, but a line of half a second
    assert place(routing_request(), [replica_states]).forecast.state is replica_states[0]
    assert place(routing_request(itl_slo_s=0.015), [replica_states]).forecast.state is replica_states[1]


def test_when_nobody_keeps_the_promise_the_reason_says_so() -> None:
    pools = [pool("a", 2, prior=SLOW), pool("b", 2, place=2, prior=SLOW)]
    choice = place(routing_request(ttft_slo_s=0.01), pools)
    assert choice.reason is Reason.LEAST_HARM
    assert choice.slo_outlook > 0


def test_equals_share_the_work_by_chance() -> None:
    replica_states, random = pool("p", 4), Random(1)
    seen = Counter(place(routing_request(), [replica_states], chance=random.random).target.id for _ in range(4000))
    assert set(seen) == {"p-0", "p-1", "p-2", "p-3"}
    assert max(seen.values()) < 1.2 * min(seen.values())


def test_equal_pools_with_the_same_stale_picture_do_not_all_run_to_the_same_replica() -> None:
    random = Random(2)
    seen = Counter(
        place(routing_request(), [pool("a", 8)], chance=random.random).target.id
        for _ in range(200)  # 200 gateways, one picture
    )
    assert max(seen.values()) < 60


def test_a_pool_not_heard_of_for_long_is_now_and_then_tried() -> None:
    pools, random = [pool("fast", 1), pool("slow", 1, place=1, prior=SLOW)], Random(3)
    pools[0][0].speed.heard_at_s = LATER_S
    request = routing_request(ttft_slo_s=5.0)
    choices = [place(request, pools, chance=random.random) for _ in range(5000)]
    explored = [choice for choice in choices if choice.reason is Reason.EXPLORED]
    assert 0 < len(explored) < 2 * EXPLORED_SHARE * 5000
    assert {choice.target.id for choice in explored} == {"slow-0"}
    pools[1][0].speed.heard_at_s = LATER_S - STALE_S / 2
    assert all(place(request, pools, chance=random.random).target.id == "fast-0" for _ in range(1000))


def test_nobody_is_sent_exploring_where_the_promise_would_break() -> None:
    pools, random = [pool("fast", 1), pool("slow", 1, place=1, prior=SLOW)], Random(4)
    request = routing_request(ttft_slo_s=0.3)
    assert all(place(request, pools, chance=random.random).target.id == "fast-0" for _ in range(2000))


def test_where_predictions_are_no_guide_load_is() -> None:
    pools = [pool("fast", 1), pool("slow", 1, place=1, prior=SLOW)]
    fill(pools[0][0], 50)
    assert place(routing_request(), pools).target.id == "fast-0"
    for band in (pools[0][0].speed.ttft_band, pools[0][0].speed.ttft_band_waiting):
        for _ in range(100):
            band.learn(1.0, 10.0, band.low, band.high)
    choice = place(routing_request(), pools)
    assert (choice.target.id, choice.reason) == ("slow-0", Reason.LEAST_LOADED)


@pytest.mark.parametrize("policy", ["slo", "cost", "affinity", "load", "mix"])
def test_the_same_chance_gives_the_same_choices(policy: str) -> None:
    def run() -> list[str]:
        pools, random = [pool("a", 4), pool("b", 3, place=4, prior=SLOW)], Random(7)
        names = []
        for number in range(200):
            request = routing_request(100 + 37 * number % 2000, ttft_slo_s=1.0)
            choice = place(request, pools, policy, now_s=number * 0.01, chance=random.random)
            send(choice.forecast.state, request, number * 0.01)
            names.append(choice.target.id)
        return names

    assert run() == run()


def test_a_cheaper_equal_replica_is_not_refused_by_cost_where_nobody_keeps_the_promise() -> None:
    pools = [pool("dear", 1, usd_per_hour=10.0), pool("cheap", 1, place=1, usd_per_hour=1.0)]
    assert place(routing_request(ttft_slo_s=0.01), pools, "cost").target.id == "cheap-0"


def test_a_cheaper_equal_replica_is_not_refused_by_cost_where_predictions_are_no_guide() -> None:
    pools = [pool("dear", 1, usd_per_hour=10.0), pool("cheap", 1, place=1, usd_per_hour=1.0)]
    for band in (pools[0][0].speed.ttft_band, pools[0][0].speed.ttft_band_waiting):
        for _ in range(100):
            band.learn(1.0, 10.0, band.low, band.high)
    assert place(routing_request(), pools, "cost").target.id == "cheap-0"
