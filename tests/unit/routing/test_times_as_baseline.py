"""What a rollout's candidate would have taken at its baseline's speed, with the load that it had."""

import pytest
from msgspec import structs

from heterodyne.domain.fleet import PoolName
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.routing.forecast import forecast_on, times_as
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.router import Router
from tests.support.replica_states import ROUND, replica, replica_state, router, routing_request, send

REQUEST = routing_request(1000, 100)
TTFT_S, ITL_S = 0.15, 0.02
SPLIT = RolloutSplit(rollout="r", candidate_pools=("new",), baseline_pools=("other", "old"), share=0.1)


def teach(state: ReplicaState, times: float, answers: int = 300) -> None:
    """One request after another, each so many times as long as usual."""
    for number in range(answers):
        began_s = 10.0 * number
        ticket = send(state, REQUEST, began_s)
        ticket.first_token(began_s + times * TTFT_S)
        ticket.end(began_s + times * (TTFT_S + 99 * ITL_S), output_tokens=100)


@pytest.mark.parametrize("busy", [0, 5])
def test_at_its_own_speed_it_is_the_forecast(busy: int) -> None:
    one = replica_state()
    teach(one, 1.3)
    for _ in range(busy):
        send(one, REQUEST, 5000.0)
    forecast = forecast_on(one, REQUEST, 0.0, 5000.0)
    assert times_as(one.speed, forecast, REQUEST, 5000.0) == pytest.approx((forecast.ttft_s, forecast.itl_s))


@pytest.mark.parametrize("busy", [0, 5])
def test_a_slower_one_is_slower_whatever_it_has_to_do(busy: int) -> None:
    slow, usual = replica_state(), replica_state()
    teach(slow, 1.3)
    teach(usual, 1.0)
    for _ in range(busy):
        send(slow, REQUEST, 5000.0)
    forecast = forecast_on(slow, REQUEST, 0.0, 5000.0)
    ttft_s, itl_s = times_as(usual.speed, forecast, REQUEST, 5000.0)
    assert forecast.ttft_s / ttft_s == pytest.approx(1.3, rel=0.05)
    assert forecast.itl_s / itl_s == pytest.approx(1.3, rel=0.05)


def fleet_of(**priors: float) -> Router:
    """A replica of each of these pools, named like it, whose steps take so long by the prior."""
    members = [structs.replace(replica(pool), pool=PoolName(pool)) for pool in priors]
    return router(*members, priors={pool: structs.replace(ROUND, step_s=step_s) for pool, step_s in priors.items()})


def ask(one: Router, name: str, count: int) -> None:
    for number in range(count):
        began_s = 10.0 * number
        ticket = one.start(REQUEST, one.forecast(REQUEST, name, began_s), began_s)
        ticket.first_token(began_s + TTFT_S)
        ticket.end(began_s + TTFT_S + 99 * ITL_S, output_tokens=100)


def test_it_is_compared_with_a_pool_of_the_same_make_that_is_known() -> None:
    one = fleet_of(new=0.02, other=0.01, old=0.02)
    forecast = one.forecast(REQUEST, "new", 1e5)
    assert one.times_as_baseline(forecast, SPLIT, REQUEST, 1e5) is None, "nothing was measured yet"
    ask(one, "other", 200)
    assert one.times_as_baseline(forecast, SPLIT, REQUEST, 1e5) is None, "of another make"
    ask(one, "old", 200)
    times_s = one.times_as_baseline(one.forecast(REQUEST, "new", 1e5), SPLIT, REQUEST, 1e5)
    assert times_s == pytest.approx((TTFT_S, ITL_S), rel=0.1)
