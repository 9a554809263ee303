"""The soonest of a pool is the one that looking at every replica finds, whatever is left out on the way to it."""

from math import inf, isclose
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.routing_rule import RoutingRule
from heterodyne.routing.catalogue import objective
from heterodyne.routing.forecast import forecast_after, least_ttft_s
from heterodyne.routing.kv.prefix_matches import PrefixMatches, prefix_matches
from heterodyne.routing.prediction.pool_speed import PoolSpeed
from heterodyne.routing.predictive import TIE_STEPS, UNTIMELY_S, choose
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest
from tests.support.replica_states import ROUND, replica_state, routing_request, send
from tests.support.splits import bounded

NOW_S = 1.0

cached_tokens = st.dictionaries(st.integers(0, 40), st.sampled_from([64.0, 256.0, 900.0, 901.5]), max_size=40)
itl_slos = st.sampled_from([inf, 0.0105, 0.011])


def busy_pool(size: int, seed: int, idle_share: float) -> list[ReplicaState]:
    """Some have nothing to do, others wait or decode, and their indices are believed more or less."""
    chance, speed = Random(seed), PoolSpeed(ROUND)
    states = [replica_state(str(place), place, speed=speed) for place in range(size)]
    for state in states:
        state.trust = chance.choice([0.0, 0.7, 0.7, 1.0])
        if chance.random() < idle_share:
            continue
        for _ in range(chance.randint(1, 8)):
            ticket = send(state, routing_request(chance.choice([100, 1000])), NOW_S - chance.choice([0.01, 0.5]))
            if chance.random() < 0.7:
                ticket.first_token(NOW_S)
    return states


def wait_s(state: ReplicaState, request: RoutingRequest, cached: PrefixMatches) -> float:
    speed = state.speed
    steps = speed.steps * (1.5 + request.prompt_tokens // speed.prior.step_tokens)
    tokens = cached.tokens(state.place) * state.trust
    late_s = UNTIMELY_S if state.batch_s > request.itl_slo_s - speed.step_s else 0.0
    saved_s = speed.prompts * tokens * (speed.prior.prompt_token_s + speed.prior.prompt_token_squared_s * tokens)
    return max(state.free_at_s - NOW_S, state.least_s) + steps * state.batch_s + late_s - saved_s


@bounded
@given(st.integers(2, 40), st.integers(0, 1 << 30), st.sampled_from([0.0, 0.1, 0.9]), cached_tokens, itl_slos)
def test_no_replica_is_sooner_than_the_one_that_is_chosen(
    size: int, seed: int, idle_share: float, held: dict[int, float], itl_slo_s: float
) -> None:
    states, cached = busy_pool(size, seed, idle_share), prefix_matches(held)
    request = routing_request(itl_slo_s=itl_slo_s)
    drawn = Random(seed)
    begin, is_second = int(drawn.random() * size), drawn.random() < 0.5
    turns = [*states[begin:], *states[:begin]]
    best, second = sorted(turns, key=lambda state: wait_s(state, request, cached))[:2]
    expected = best
    idle = next((state for state in turns if not state.in_flight and not held), None)
    if idle is not None:
        expected = idle
    elif wait_s(second, request, cached) - wait_s(best, request, cached) < TIE_STEPS * best.speed.step_s:
        more = 0 if held else second.in_flight - best.in_flight
        expected = second if more < 0 or (not more and is_second) else best
    draws = Random(seed)
    chosen = choose(request, [states], cached, objective("load", RoutingRule()), now_s=NOW_S, chance=draws.random)
    soonest = chosen.others[0].state if chosen.others else chosen.forecast.state
    # Compiled, a product and a sum may be rounded once: what differs by that alone is as good.
    assert soonest is expected or isclose(
        wait_s(soonest, request, cached), wait_s(expected, request, cached), rel_tol=1e-9
    )


@bounded
@given(st.integers(2, 12), st.integers(0, 1 << 30), st.integers(1, 3000), st.floats(0.0, 1.0), st.floats(0.0, 2.0))
def test_the_least_ttft_is_the_forecast_one_but_for_the_wait_for_room(
    size: int, seed: int, prompt_tokens: int, cached_share: float, link_s: float
) -> None:
    request, cached = routing_request(prompt_tokens), cached_share * prompt_tokens
    for state in busy_pool(size, seed, 0.3):
        least_s = least_ttft_s(state, request, cached, link_s, NOW_S)
        forecast = forecast_after(state, request, cached, link_s, NOW_S)
        if forecast.room_s:
            assert least_s <= forecast.ttft_s
        else:
            assert isclose(least_s, forecast.ttft_s, rel_tol=1e-12)
